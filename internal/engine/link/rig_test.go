package link

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// faults says what a network does to packets, as probabilities.
type faults struct {
	lose, repeat, corrupt float64
	delay                 time.Duration // at most; unequal delays reorder
	mtu                   int           // longer packets get lost; 0: none do
	pause                 time.Duration // nothing arrives in every other period of this length: the ends get no processor
	each                  time.Duration // that an end takes for a packet
}

// A rig is two links and the network between them, in virtual time.
type rig struct {
	t     testing.TB
	rand  *rand.Rand
	now   monotime.Time
	ends  [2]*end
	wire  flights
	order int
	net   faults
	busy  [2]monotime.Time      // until then an end has packets before it
	tap   func(pkt []byte)      // sees every packet that is sent, if it is not nil
	loses func(pkt []byte) bool // reports whether a packet is lost; net loses packets, too; nil: only net does
}

// An end is one side: a link, what it wants to send, what it has received.
type end struct {
	self *Self
	conn *Conn
	todo int    // frames not yet given to the link
	next uint64 // number of the next one
	got  uint64 // frames received
	room bool
	fill bool // frames are as long as a packet may be
	errs map[error]int
}

type flight struct {
	at    monotime.Time
	order int
	to    int
	pkt   []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].order < f[j].order
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

const job = 0x77656674

// life is the incarnation of an end.
func life(i int) uint64 { return uint64(i+1)<<40 | 6 }

var rigSecret = bytes.Repeat([]byte{9}, 32)

func newRig(t testing.TB, seed uint64, cfg Config, net faults) *rig {
	r := &rig{t: t, rand: rand.New(rand.NewPCG(seed, 1)), net: net, now: 1}
	for i := range r.ends {
		e := &end{self: NewSelf(job, uint32(i), life(i), rigSecret), room: true, errs: map[error]int{}}
		e.conn = NewConn(&cfg, e.self, uint32(1-i), life(1-i))
		r.ends[i] = e
	}
	return r
}

// frame is what end i sends as its n-th frame: a head, and a payload whose
// length and bytes tell n.
func frame(i int, n uint64) (head, payload []byte) {
	head = wire.Push{End: true, Op: uint32(i), Off: n}.Append(nil)
	payload = make([]byte, n*37%1500)
	for j := range payload {
		payload[j] = byte(n) + byte(j)
	}
	return head, payload
}

// send lets an end send what is due.
func (r *rig) send(i int) {
	e := r.ends[i]
	for e.todo > 0 && e.conn.Ready(r.now) {
		head, payload := frame(i, e.next)
		if e.fill {
			payload = make([]byte, e.conn.Room()-len(head))
		}
		e.conn.Queue(r.now, head, payload)
		e.next++
		e.todo--
	}
	e.conn.More(e.todo > 0)
	var packets [16]Packet
	for {
		n := e.conn.Output(r.now, packets[:])
		if n == 0 {
			return
		}
		taken := n
		if r.rand.Float64() < 0.1 { // the transport has no room
			taken = r.rand.IntN(n + 1)
			e.conn.Unsent(r.now, n-taken)
		}
		for _, p := range packets[:taken] {
			if r.tap != nil {
				r.tap(append(bytes.Clone(p.Header), p.Payload...))
			}
			if r.loses != nil && r.loses(p.Header) {
				continue
			}
			if r.net.mtu > 0 && len(p.Header)+len(p.Payload) > r.net.mtu {
				continue
			}
			r.fly(1-i, append(append([]byte(nil), p.Header...), p.Payload...))
		}
		if taken < n {
			return
		}
	}
}

// fly puts a packet into the network, which may lose it or worse.
func (r *rig) fly(to int, pkt []byte) {
	if r.rand.Float64() < r.net.lose {
		return
	}
	copies := 1
	if r.rand.Float64() < r.net.repeat {
		copies = 2
	}
	for range copies {
		b := bytes.Clone(pkt)
		if r.rand.Float64() < r.net.corrupt {
			b[r.rand.IntN(len(b))] ^= 1 << r.rand.IntN(8)
		}
		at := r.now.Add(10*time.Microsecond + time.Duration(r.rand.Int64N(int64(r.net.delay)+1)))
		if p := r.net.pause; p > 0 && time.Duration(at)%(2*p) >= p {
			at = at.Add(2*p - time.Duration(at)%(2*p))
		}
		if r.net.each > 0 {
			at = max(at, r.busy[to].Add(r.net.each))
			r.busy[to] = at
		}
		r.order++
		heap.Push(&r.wire, flight{at, r.order, to, b})
	}
}

// receive hands a packet to an end, and checks the frame in it.
func (r *rig) receive(f flight) {
	e := r.ends[f.to]
	src, err := e.self.Check(f.pkt)
	if err == nil && src != uint32(1-f.to) {
		err = ErrForeign
	}
	var frm []byte
	if err == nil {
		frm, err = e.conn.Recv(r.now, f.pkt, Checked, e.room)
	}
	if err != nil {
		e.errs[err]++
		return
	}
	for ; frm != nil; frm = e.conn.Kept(r.now, e.room) {
		head, payload := frame(1-f.to, e.got)
		want := append(head, payload...)
		if r.ends[1-f.to].fill {
			want = append(head, make([]byte, max(len(frm)-len(head), 0))...)
		}
		if !bytes.Equal(frm, want) {
			r.t.Fatalf("end %d: frame %d of %d bytes is not what was sent: %x", f.to, e.got, len(frm), frm[:min(len(frm), 48)])
		}
		e.got++
	}
}

// step goes on to the next event, and reports whether there was one.
func (r *rig) step() bool {
	r.send(0)
	r.send(1)
	at := r.ends[0].conn.Deadline().Min(r.ends[1].conn.Deadline())
	if len(r.wire) > 0 {
		at = at.Min(r.wire[0].at)
	}
	if at == monotime.Never {
		return false
	}
	if at > r.now {
		r.now = at
	}
	for len(r.wire) > 0 && r.wire[0].at <= r.now {
		r.receive(heap.Pop(&r.wire).(flight))
	}
	for _, e := range r.ends {
		e.conn.Advance(r.now)
	}
	return true
}

// run runs until both ends have everything, and returns the virtual time it
// took.
func (r *rig) run(a, b int) time.Duration {
	r.ends[0].todo = a
	r.ends[1].todo = b
	start := r.now
	for steps := 0; !r.done(uint64(a), uint64(b)); steps++ {
		if steps > 1<<20 || !r.step() && !r.done(uint64(a), uint64(b)) {
			r.t.Fatalf("stuck after %v: %s", r.now.Sub(start), r)
		}
	}
	return r.now.Sub(start)
}

func (r *rig) done(a, b uint64) bool {
	return r.ends[1].got >= a && r.ends[0].got >= b && r.ends[0].conn.Idle() && r.ends[1].conn.Idle()
}

func (r *rig) String() string {
	s := ""
	for i, e := range r.ends {
		s += fmt.Sprintf("end %d: sent %d, got %d, stats %+v, refused %v; ", i, e.next, e.got, e.conn.counts, e.errs)
	}
	return s
}

func seeds(t *testing.T, f func(t *testing.T, seed uint64)) {
	n := uint64(12)
	if testing.Short() {
		n = 5
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { f(t, seed) })
	}
}

func seqOf(pkt []byte) uint32 { return binary.LittleEndian.Uint32(pkt[24:]) }
