package faulty

import (
	"sync"
	"time"

	"weft/internal/transport"
)

// Gates are passed by all packets between the ranks of a job, and can lose or delay those
// between two ranks. Any goroutine may use them.
type Gates struct {
	mu   sync.Mutex
	cut  map[[2]int]bool
	slow map[int]time.Duration
}

// NewGates returns gates that let everything pass.
func NewGates() *Gates { return &Gates{cut: map[[2]int]bool{}, slow: map[int]time.Duration{}} }

// Cut loses all packets from one rank to another.
func (g *Gates) Cut(from, to int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut[[2]int{from, to}] = true
}

// IsCut reports whether packets from one rank to another are lost now.
func (g *Gates) IsCut(from, to int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cut[[2]int{from, to}]
}

// Heal ends a cut.
func (g *Gates) Heal(from, to int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.cut, [2]int{from, to})
}

// Slow makes packets from and to a rank take d longer.
func (g *Gates) Slow(rank int, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slow[rank] = d
}

// pass says whether a packet may pass, and how much later.
func (g *Gates) pass(from, to int) (ok bool, later time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.cut[[2]int{from, to}], g.slow[from] + g.slow[to]
}

// A Gate is the transport of one rank, seen through gates. It implements
// transport.Transport.
type Gate struct {
	transport.Transport
	gates *Gates
	rank  int
	ring  func() // wakes the goroutine that polls
	held  []held
}

// New returns the transport of a rank as it is behind the gates. Ring wakes the goroutine that
// polls it. The transport must not be reliable.
func (g *Gates) New(t transport.Transport, rank int, ring func()) *Gate {
	if t.Caps().Reliable {
		panic("faulty: the transport promises to be reliable")
	}
	return &Gate{Transport: t, gates: g, rank: rank, ring: ring}
}

// Lane returns nil: every packet passes Send.
func (t *Gate) Lane(peer int) transport.Lane { return nil }

// Send sends the packets that may pass.
func (t *Gate) Send(pkts []transport.Out) int {
	t.release()
	for i := range pkts {
		o := &pkts[i]
		switch ok, later := t.gates.pass(t.rank, o.Peer); {
		case !ok:
		case later > 0:
			t.held = append(t.held, held{out: clone(o), due: time.Now().Add(later)})
			time.AfterFunc(later, t.ring)
		case t.Transport.Send(pkts[i:i+1]) == 0:
			return i
		}
	}
	return len(pkts)
}

// Poll returns what has arrived. The packets themselves say which rank has sent them.
func (t *Gate) Poll(dst []transport.In) int {
	t.release()
	n := t.Transport.Poll(dst)
	for i := range dst[:n] {
		dst[i].From = -1
	}
	return n
}

// release sends the packets whose delay is over. A packet that finds no room is lost: the
// transport is lossy.
func (t *Gate) release() {
	if len(t.held) == 0 {
		return
	}
	now := time.Now()
	keep := t.held[:0]
	for _, h := range t.held {
		if now.Before(h.due) {
			keep = append(keep, h)
		} else {
			t.Transport.Send([]transport.Out{h.out})
		}
	}
	t.held = keep
}
