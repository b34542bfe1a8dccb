package driver

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/transport"
)

// A sink is a transport to one peer, an engine, that takes whatever is sent at once. It
// measures how much is sent between two looks for arrivals.
type sink struct {
	transport.Steady

	bell       transport.Doorbell
	peer       *engine.Engine
	port       *msg.Port // of the peer
	op         msg.Op    // its receive
	in         [][]byte
	lent       int
	run, worst int // bytes since the last look, and the most of them
	beats      bool
	held       bool // the peer's answers are kept back
}

const sinkMTU = 64 << 10

func (*sink) PeerMTU(int) int          { return sinkMTU }
func (*sink) Lane(int) transport.Lane  { return nil }
func (*sink) Memory() transport.Memory { return nil }
func (*sink) Dial(int, string) error   { return nil }
func (*sink) Card() string             { return "" }
func (*sink) Forget(int)               {}
func (*sink) MemoryBytes() uint64      { return 0 }
func (*sink) Arm()                     {}
func (*sink) Close() error             { return nil }
func (s *sink) Pending() bool          { return len(s.in) > 0 }
func (s *sink) Caps() transport.Caps {
	return transport.Caps{Name: "sink", MTU: sinkMTU, Reliable: true, Beats: s.beats}
}
func (s *sink) Release() { s.in = s.in[s.lent:] }

func (s *sink) Send(pkts []transport.Out) int {
	for _, p := range pkts {
		s.run += len(p.Header) + len(p.Payload)
		s.worst = max(s.worst, s.run)
		s.peer.Recv(0, 0, append(slices.Clone(p.Header), p.Payload...))
	}
	if s.op.State == msg.Offered {
		s.port.Fetch(&s.op)
	}
	if s.collect(); len(s.in) > 0 {
		s.bell.Wake(true)
	}
	return len(pkts)
}

// collect makes what the peer sends arrive.
func (s *sink) collect() {
	var packets [1]link.Packet
	for {
		_, k, _ := s.peer.Output(0, packets[:])
		if k == 0 {
			return
		}
		s.in = append(s.in, append(slices.Clone(packets[0].Header), packets[0].Payload...))
		s.peer.Taken(0, 0, k, k, packets[:])
	}
}

func (s *sink) Poll(dst []transport.In) int {
	s.run = 0
	if s.lent = 0; s.held {
		return 0
	}
	s.lent = min(len(s.in), len(dst))
	for i, b := range s.in[:s.lent] {
		dst[i] = transport.In{From: 1, Data: b}
	}
	return s.lent
}

// TestBulkLooksForArrivals: a goroutine that sends a long message, for which its transport
// always has room, looks for arrivals every LongRun bytes, and every run when another
// goroutine waits for a message.
func TestBulkLooksForArrivals(t *testing.T) {
	one := func() uint64 { return 1 }
	there := engine.Config{Rank: 1, Size: 2, Job: 1, Incarnation: 1, Rand: one}
	s := &sink{bell: doorbell.NewChan(), peer: engine.New(there)}
	s.peer.Connect(0, 0, engine.Path{MTU: sinkMTU})
	n := New(Config{
		Engine: engine.Config{Rank: 0, Size: 2, Job: 1, Incarnation: 1, Rand: one},
		Wait:   Waiting{Budget: time.Minute}, // the goroutine that sends polls until all is sent
		Route:  func(int) (Route, error) { return Route{Transport: s}, nil },
	})
	n.Start(s.bell, s)
	n.connect(1, Route{Transport: s})
	bulk, err := n.Open(1, msg.Config{})
	peer, err2 := s.peer.Msg.Open(1, msg.Config{})
	short, err3 := n.Open(2, msg.Config{})
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	s.port = peer
	long := make([]byte, 8*longRun)
	send := func() {
		t.Helper()
		s.op = msg.Op{Kind: msg.Recv, Peer: msg.Any, Buf: make([]byte, len(long))}
		s.port.Start(&s.op)
		c := NewCall()
		defer c.Free()
		c.Msg.Kind = msg.Send
		c.Msg.Peer = 1
		c.Msg.Buf = long
		if err := n.Message(context.Background(), bulk, c); err != nil {
			t.Fatal(err)
		}
	}
	s.worst = 0
	if send(); s.worst < longRun || s.worst > longRun+2*sinkMTU {
		t.Errorf("%d bytes between two looks for arrivals, want about %d", s.worst, longRun)
	}
	n.mu.Lock()
	n.waiting.budget = 0 // the next goroutine that waits parks at once
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		_, _, _ = n.Receive(ctx, short, msg.Any, nil)
		close(over)
	}()
	for parked := 0; parked == 0; runtime.Gosched() {
		n.mu.Lock()
		parked = n.duty.Asleep()
		n.mu.Unlock()
	}
	s.worst = 0
	if send(); s.worst > run+2*sinkMTU {
		t.Errorf("%d bytes between two looks while another goroutine waits, want about %d", s.worst, run)
	}
	cancel()
	<-over
	n.Close(0, "")
}

// TestNetworkRoundIsShort: where looking takes a system call a goroutine that polls keeps the lock for few looks,
// also if the network loses nothing, and so it does while others use the node.
func TestNetworkRoundIsShort(t *testing.T) {
	for _, c := range []struct{ network, crowded bool }{{false, false}, {true, false}, {false, true}} {
		s := &sink{bell: doorbell.NewChan(), beats: c.network}
		n := New(Config{Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}})
		n.Start(s.bell, s)
		if c.crowded {
			n.company.waits.Store(1)
		}
		n.mu.Lock()
		_, looks, _ := n.lookRound(NewCall())
		n.mu.Unlock()
		n.Close(0, "")
		want := glances
		if c.network || c.crowded {
			want = glancesCall
		}
		if looks != want {
			t.Errorf("%d looks in a round, want %d; %+v", looks, want, c)
		}
	}
}

// A torrent is a transport to which packets come faster than they can be taken. They are none of the job's.
type torrent struct {
	*sink
	polls int
}

func (t *torrent) Pending() bool { return true }
func (t *torrent) Release()      {}

func (t *torrent) Poll(dst []transport.In) int {
	t.polls++
	for i := range dst {
		dst[i] = transport.In{From: -1, Data: []byte("nonsense")}
	}
	return len(dst)
}

// TestFloodLeavesOthersTheirTurn: a transport to which packets come without end does not keep the node from its other
// transports, nor from returning.
func TestFloodLeavesOthersTheirTurn(t *testing.T) {
	one := func() uint64 { return 1 }
	flooded := &torrent{sink: &sink{bell: doorbell.NewChan()}}
	other := &torrent{sink: &sink{bell: flooded.bell}}
	n := New(Config{
		Engine: engine.Config{Rank: 0, Size: 2, Job: 1, Incarnation: 1, Rand: one},
		Route:  func(int) (Route, error) { return Route{Transport: flooded}, nil },
	})
	n.Start(flooded.bell, flooded, other)
	n.mu.Lock()
	flooded.polls = 0
	other.polls = 0
	n.progress()
	if flooded.polls == 0 || flooded.polls > most || other.polls == 0 || other.polls > most {
		t.Errorf("of two flooded transports one was polled %d times, and the other %d, want at most %d each", flooded.polls,
			other.polls, most)
	}
	n.mu.Unlock()
	n.Close(0, "")
}

// A late is a transport to which packets come just before the doorbell is armed: no peer rings for them.
type late struct {
	*sink
	fill func() // what comes, or nil
}

func (l *late) Arm() {
	if l.fill != nil {
		l.fill()
	}
	l.fill = nil
}

// newLate returns a node with a late transport, a port of it, and one of its peer.
func newLate(t *testing.T) (n *Node, l *late, p, peer *msg.Port) {
	one := func() uint64 { return 1 }
	l = &late{sink: &sink{bell: doorbell.NewChan()}}
	l.peer = engine.New(engine.Config{Rank: 1, Size: 2, Job: 1, Incarnation: 1, Rand: one})
	l.peer.Connect(0, 0, engine.Path{MTU: sinkMTU})
	n = New(Config{
		Engine: engine.Config{Rank: 0, Size: 2, Job: 1, Incarnation: 1, Rand: one},
		Route:  func(int) (Route, error) { return Route{Transport: l}, nil },
	})
	n.Start(l.bell, l)
	n.connect(1, Route{Transport: l})
	p, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if peer, err = l.peer.Msg.Open(1, msg.Config{}); err != nil {
		t.Fatal(err)
	}
	return n, l, p, peer
}

// nonsense makes so many packets arrive that are none of the job's, and then a message.
func (l *late) nonsense(packets int, peer *msg.Port) {
	for range packets {
		l.in = append(l.in, []byte("nonsense"))
	}
	peer.Give(0, []byte("the last"))
	l.collect()
}

// receiveLast receives the message that nonsense sends.
func receiveLast(t *testing.T, n *Node, p *msg.Port) {
	ctx, end := context.WithTimeout(context.Background(), time.Minute) // only ends a hang
	defer end()
	if got, _, err := n.Receive(ctx, p, msg.Any, make([]byte, 8)); err != nil || got.N != 8 {
		t.Errorf("a message of %d bytes, %v: want the last packet's", got.N, err)
	}
	if ctx.Err() != nil {
		t.Error("the goroutine slept while packets waited")
	}
}

// TestMoreThanOneTurnBeforeSleep: a goroutine that arms the doorbell takes all packets that have come until then, also
// those beyond a turn's share, before it sleeps.
func TestMoreThanOneTurnBeforeSleep(t *testing.T) {
	n, l, p, peer := newLate(t)
	n.mu.Lock()
	l.fill = func() { l.nonsense(most*batch, peer) }
	n.mu.Unlock()
	receiveLast(t, n, p)
	n.Close(0, "")
}

// TestLeftWhileOthersSleep: a goroutine that leaves packets, since others want the lock, does not leave them to a
// goroutine that sleeps.
func TestLeftWhileOthersSleep(t *testing.T) {
	n, l, p, peer := newLate(t)
	over := make(chan struct{})
	go func() {
		receiveLast(t, n, p)
		close(over)
	}()
	n.mu.Lock()
	for n.bell.State() != transport.Asleep {
		n.mu.Unlock()
		runtime.Gosched()
		n.mu.Lock()
	}
	l.nonsense(batch, peer)
	n.company.lockers.Add(1)
	n.progress()
	n.company.lockers.Add(-1)
	n.mu.Unlock()
	<-over
	n.Close(0, "")
}
