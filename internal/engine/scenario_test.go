package engine

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// TestScenarios runs the scenarios in testdata: each proves what its first
// sentence says. After a change of the protocol,
//
//	go test ./internal/engine -run Scenarios -rewrite
//
// writes down what happens now; commit only what you understand.
//
// The commands, with what they print:
//
//	cluster ranks=2 [reliable [beats]] [window=4] [mtu=1500] [maxqueue=2] [liveness=never]
//	        [firstseq=…] [ackdelay=…] [rto=…]
//	        [doorbells]                   a packet that is worth waking its receiver for rings
//	open rank=0 [channel=1] [recv=65536] [sendbuffer=65536] [backoff]
//	send from=0 to=1 [size=8] [count=3]   packets that leave
//	recv rank=1 [from=0] [size=…]         a receive: what it got, or that it waits
//	release rank=1                        the oldest message on loan
//	flush rank=0
//	freeze rank=0 | thaw rank=0           the port
//	save rank=0 as=x | restore rank=0 [of=x] its state, or that of a port that has just been opened
//	expose rank=1 name=r size=100 [readonly] [guard]   guarded by the lock "L"
//	attach rank=0 to=1 name=r
//	push | put | pull rank=0 to=1 off=0 size=8 [fill=7] [key=wrong] [epoch=1]
//	add | swap | cas rank=0 to=1 off=0 a=1 [b=2] [key=wrong]
//	fence rank=0 to=1
//	show rank=1 off=0 size=8              what the region holds
//	mailbox rank=1 name=m [rings=256,512] [table=0,1] [records=16] [stall]
//	                                      rings, and those of ranks 0, 1, …; attach finds it
//	ipush rank=0 to=1 size=8 [tag=7] [entry=1] [status=message|packet] [key=wrong]
//	cancel rank=0                         the oldest of its messages to mailboxes that have not ended
//	take rank=1                           what arrived next, which is kept
//	free rank=1 [i=0]                     what is kept, the oldest or the i-th after it
//	table rank=1 of=0 ring=1              another ring for a sender
//	reserved rank=1                       what nobody was told of, or has not been released
//	withdraw rank=1                       the mailbox goes away
//	await rank=1 | knock rank=0 to=1      for messages that a sender has put into mapped memory
//	lock | try | unlock rank=0 [class=fair|central|rw]  of the lock "L"; rlock | tryrlock of readers
//	acquire | tryacquire | giveback rank=0 class=semaphore [permits=2] [undo] [n=1]
//	enter | wait | signal | broadcast rank=0 class=cond [n=waiter]
//	arrive | pass rank=0 algorithm=tree|central|… [arity=2] [members=1,3]  at the barrier "B"
//	sync rank=0 class=regions [n=distance]
//	use rank=0 [class=…]                  the rank opens it, and does nothing with it
//	giveup rank=0                         what the rank waits for of these
//	bind rank=0                           a region of the rank is guarded by the lock "L"
//	states rank=0                         how the rank stands to all of them
//	leave rank=0 [failed=why]             the process leaves the job, in good order or because its program has failed
//	drop id=3 | drop from=0 to=1 [count=2]
//	swap-packets id=3 id2=4               they change places on the way
//	deliver [id=3] [from=0 to=1] [count=1]  packets, and what leaves because of them
//	settle                                everything, until nothing moves
//	clog rank=1 | unclog rank=1           its transport takes nothing, and takes packets again
//	narrow mtu=1300                       the network loses longer packets from now on; 0: no more
//	resize rank=0 peer=1 mtu=1300         the transport says how long packets may be
//	advance d=5ms                         timers that run out, and what leaves
//	down rank=0 peer=1                    a peer is gone
//	return rank=0                         its program ends; the peers that must be told in another way
//	returned rank=0 peer=1                the other way
//	frame from=1 to=0 hex=…               a frame of a hostile peer arrives, over a reliable transport
//	dropped rank=0                        how many frames came to nothing
//	unfinished                            what the engines still have to do
//
// one of ranks that do not keep to the protocol, whose frame arrives at once,
//
//	lie from=1 to=0 frame=ack [channel=1] [ack=7] … [count=1]
//	                                      its fields; size= and fill= are its payload, id=L the lock "L"
//
// and those of strangers, which arrive at once; trusted says that they come over a
// network where nobody forges, host=2 of cluster that ranks 0 and 1 share memory:
//
//	cluster … [host=2] [trusted|encrypted|private] [firstcounter=…]
//	                                      what the ranks' own packets have; private: no others may come
//	stranger to=0 src=1 [dst=0] [job=1] [incarnation=2] [kind=1] [counter=1]
//	         [checksum|encrypted] [secret=wrong|right] [harmless] [flip=byte] [cut=bytes] [count=1]
//	         [trusted|private]
//	again id=3 [to=0] [flip=all] [trusted|private]
//	                                      a packet that was on its way before; or each that differs
//	                                      from it in one byte
//	restart to=0                          the rank is another process now, under the same secret
//	known to=0                            the ranks that it knows and would dial, and what it has dropped
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s *scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cluster" {
				s = newScenario(t, d)
				return ""
			}
			s.out.Reset()
			s.t = t
			s.d = d
			s.command()
			if s.out.Len() == 0 {
				return "nothing\n"
			}
			return s.out.String()
		})
	})
}

// A scenario is some engines, and the packets on their way between them.
type scenario struct {
	t       *testing.T
	d       *datadriven.TestData
	out     strings.Builder
	now     monotime.Time
	lossy   bool
	beats   bool
	rings   bool // urgent packets are shown
	mtu     int
	engines []*Engine
	ports   map[int]*msg.Port
	loans   map[int][]*msg.Block
	found   map[[2]int]rma.Found
	regions map[int][]byte
	flying  []flying
	past    []flying // packets that have been on their way
	saved   map[string][]byte
	host    int        // ranks from 0 on that share memory
	guard   link.Guard // of the network's packets
	private bool       // and it carries no weaker ones

	incarnations []uint64

	clogged map[int]bool
	narrow  int // longer packets get lost
	last    int
	waiting map[int]*coord.Op // by rank
	boxes   map[int]*testMailbox
	pushed  map[int][]*rma.Op // by rank
}

// flying is a packet on its way.
type flying struct {
	id, from, to int
	b            []byte
}

func newScenario(t *testing.T, d *datadriven.TestData) *scenario {
	s := &scenario{
		t: t, d: d, now: 1, lossy: !d.HasArg("reliable"), beats: d.HasArg("beats"),
		rings: d.HasArg("doorbells"), ports: map[int]*msg.Port{},
		loans: map[int][]*msg.Block{},
		found: map[[2]int]rma.Found{}, regions: map[int][]byte{}, clogged: map[int]bool{}, waiting: map[int]*coord.Op{},
		saved: map[string][]byte{}, boxes: map[int]*testMailbox{}, pushed: map[int][]*rma.Op{},
	}
	s.mtu = s.number("mtu", 1500)
	n := s.number("ranks", 2)
	s.host = s.number("host", 0)
	s.private = d.HasArg("private")
	switch {
	case d.HasArg("trusted"):
		s.guard = link.Checked
	case d.HasArg("encrypted"), s.private:
		s.guard = link.Encrypted
	}
	cfg := link.Config{
		Window: s.number("window", 256), RTOInitial: s.duration("rto", 10*time.Millisecond),
		AckDelay: s.duration("ackdelay", 0),
		Liveness: -1, FirstSeq: uint32(s.number("firstseq", 0)), FirstCounter: uint64(s.number("firstcounter", 0)),
	}
	if d.HasArg("liveness") {
		cfg.Liveness = s.duration("liveness", 0)
	}
	for rank := range n {
		key := uint64(rank) << 32
		e := New(Config{
			Rank: rank, Size: n, Job: 1, Secret: make([]byte, 32), Incarnation: uint64(rank + 1), Link: cfg,
			Rand: func() uint64 { key++; return key }, MaxQueue: s.number("maxqueue", 0),
			Agreement: s.agreement(uint64(rank + 1)),
		})
		s.incarnations = append(s.incarnations, uint64(rank+1))
		s.engines = append(s.engines, e)
	}
	return s
}

func (s *scenario) number(name string, def int) int {
	s.d.MaybeScanArgs(s.t, name, &def)
	return def
}

func (s *scenario) duration(name string, def time.Duration) time.Duration {
	var text string
	if s.d.MaybeScanArgs(s.t, name, &text) {
		var err error
		if def, err = time.ParseDuration(text); err != nil {
			s.t.Fatal(err)
		}
	}
	return def
}

func (s *scenario) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *scenario) command() {
	rank := s.number("rank", s.number("from", 0))
	if coordination[s.d.Cmd] != 0 {
		s.coordinate(rank)
		s.flush(true)
		return
	}
	switch s.d.Cmd {
	case "open", "send", "recv", "release", "flush", "revoke":
		s.message(rank)
	case "drop", "deliver", "settle", "swap-packets":
		s.network()
	case "freeze", "save", "restore", "thaw":
		s.freeze(rank)
	case "use", "giveup", "states", "bind":
		s.coordinate(rank)
	case "leave":
		why := ""
		s.d.MaybeScanArgs(s.t, "failed", &why)
		s.engines[rank].Leave(why)
	case "mailbox":
		s.newMailbox(rank)
	case "ipush":
		s.ipush(rank)
	case "cancel":
		s.cancel(rank)
	case "take", "free", "table", "reserved", "knock", "await", "withdraw":
		s.mailbox(rank)
	case "advance":
		for range s.number("times", 1) {
			s.advance(s.duration("d", 0))
		}
	case "frame":
		var text string
		s.d.ScanArgs(s.t, "hex", &text)
		frame, err := hex.DecodeString(text)
		if err != nil {
			s.t.Fatal(err)
		}
		s.say("  came  %d→%d %s", rank, s.number("to", 0), wire.Describe(frame))
		s.engines[s.number("to", 0)].Recv(s.now, rank, frame)
	case "dropped":
		st := s.engines[rank].Stats()
		s.say("messages %d, memory %d and %d refused, malformed %d", st.Msg.Dropped, st.RMA.Dropped, st.RMA.Refused,
			st.Dropped.Malformed)
		return
	case "clog", "unclog":
		s.clogged[rank] = s.d.Cmd == "clog"
	case "narrow":
		s.narrow = s.number("mtu", 0)
		return
	case "resize":
		s.engines[rank].Resize(s.now, s.number("peer", 1-rank), s.number("mtu", 0))
	case "stranger", "again", "restart", "known":
		s.strange()
	case "lie":
		s.lie(s.number("from", 0))
	case "down":
		s.engines[rank].Down(s.number("peer", 0), fmt.Errorf("it was killed"), false)
	case "return":
		told := s.engines[rank].Return()
		for r := range s.engines {
			if r != rank && !slices.Contains(told, r) {
				s.say("  rank %d must be told in another way", r)
			}
		}
	case "returned":
		s.engines[rank].Returned(s.number("peer", 0))
	case "unfinished":
		for r, e := range s.engines {
			for _, line := range e.Unfinished() {
				s.say("rank %d: %s", r, line)
			}
		}
		return
	default:
		s.memory(rank)
	}
	s.flush(s.d.Cmd != "settle")
}

// advance lets time pass, in which the engines do what is due.
func (s *scenario) advance(d time.Duration) {
	s.now = s.now.Add(d)
	for _, e := range s.engines {
		if e.Timed() && e.Deadline() <= s.now {
			e.Advance(s.now)
		}
	}
	s.flush(true)
}

// flush puts what the engines have to send on its way, and tells what ended.
func (s *scenario) flush(tell bool) {
	var out [16]link.Packet
	for again := true; again; {
		again = false
		for rank, e := range s.engines {
			for !s.clogged[rank] {
				to, n, urgent := e.Output(s.now, out[:])
				if n == 0 {
					break
				}
				again = true
				for _, p := range out[:n] {
					s.last++
					f := flying{s.last, rank, to, append(bytes.Clone(p.Header), p.Payload...)}
					s.past = append(s.past, f)
					if s.narrow > 0 && len(f.b) > s.narrow {
						s.say("  too long for the network: %s", s.describe(f))
						continue
					}
					s.flying = append(s.flying, f)
					if tell {
						s.say("  sent  %s%s", s.describe(f), map[bool]string{true: ", and rings"}[urgent && s.rings])
					}
				}
				e.Taken(s.now, to, n, n, out[:])
			}
			for _, peer := range e.Wanted(nil) {
				e.Connect(s.now, peer, s.path(rank, peer))
				again = true
			}
			for _, peer := range e.Awaited(nil) {
				s.say("  rank %d asks to be told of rank %d", rank, peer)
			}
			s.ended(rank, e)
		}
	}
}

func (s *scenario) ended(rank int, e *Engine) {
	for op := e.Msg.Finished(); op != nil; op = e.Msg.Finished() {
		s.result(rank, op)
	}
	for op := e.RMA.Finished(); op != nil; op = e.RMA.Finished() {
		s.done(rank, op)
	}
	for op := e.Coord.Finished(); op != nil; op = e.Coord.Finished() {
		s.coordinated(rank, op)
	}
}
