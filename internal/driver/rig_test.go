package driver

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/driver/duty"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/transport"
	"weft/internal/transport/pipe"
	"weft/internal/waittest"
)

// A rig is two nodes of this process that a pipe connects, with a port on each. Its methods
// are what a test does and what it expects. No method sleeps: each waits for what it expects,
// which ends the test if it does not come in patienceOfTests.
type rig struct {
	*testing.T
	nodes [2]*Node
	bells [2]*countedBell
	pipes [2]*countedPipe
	ports [2]*msg.Port
}

const patienceOfTests = waittest.Patience

// A countedBell is a futex that counts the goroutines that sleep on it, how often one has, by state, and how often the
// node rings.
type countedBell struct {
	transport.Doorbell
	sleepers atomic.Int64
	sleeps   [3]atomic.Int64
	rings    atomic.Int64
}

func (b *countedBell) Ring() {
	b.rings.Add(1)
	b.Doorbell.Ring()
}

func (b *countedBell) Sleep(s transport.State, d time.Duration) {
	b.sleeps[s].Add(1)
	b.sleepers.Add(1)
	b.Doorbell.Sleep(s, d)
	b.sleepers.Add(-1)
}

// A countedPipe counts how often it was looked at.
type countedPipe struct {
	*pipe.Transport
	polls atomic.Int64
	beats atomic.Bool // it passes for a network
}

func (p *countedPipe) Caps() transport.Caps {
	caps := p.Transport.Caps()
	caps.Beats = p.beats.Load()
	return caps
}

func (p *countedPipe) Poll(dst []transport.In) int {
	p.polls.Add(1)
	return p.Transport.Poll(dst)
}

// newRig starts both nodes.
func newRig(t *testing.T, wait Waiting) *rig {
	r := &rig{T: t}
	network := pipe.NewNetwork()
	for i := range r.nodes {
		random := uint64(i)
		cfg := Config{
			Engine: engine.Config{
				Rank: i, Size: 2, Job: 1, Incarnation: uint64(i + 1),
				Rand: func() uint64 { random++; return random },
			},
			Wait:  wait,
			Route: func(int) (Route, error) { return Route{Transport: r.pipes[i]}, nil },
		}
		n := New(cfg)
		r.nodes[i] = n
		r.bells[i] = &countedBell{Doorbell: doorbell.NewFutex(new(uint32))}
		r.pipes[i] = &countedPipe{}
		end, err := network.Open(i, r.bells[i], n.Events(func() transport.Transport { return r.pipes[i] }))
		if err != nil {
			t.Fatal(err)
		}
		r.pipes[i].Transport = end
		n.Start(r.bells[i], r.pipes[i])
		t.Cleanup(func() { n.Close(0, "") })
	}
	for i, n := range r.nodes {
		if _, err := n.Reach(t.Context(), 1-i); err != nil {
			t.Fatal(err)
		}
		r.ports[i] = r.open(i, 1)
	}
	return r
}

// open opens a channel at a node.
func (r *rig) open(at int, channel uint16) *msg.Port {
	p, err := r.nodes[at].Open(channel, msg.Config{})
	if err != nil {
		r.Fatal(err)
	}
	return p
}

// until waits for a condition.
func (r *rig) until(what string, cond func() bool) {
	r.Helper()
	waittest.Until(r, what, cond)
}

// send sends a short message to the other node, on its port.
func (r *rig) send(from int, text string) { r.sendOn(from, r.ports[from], text) }

func (r *rig) sendOn(from int, p *msg.Port, text string) {
	r.Helper()
	r.until("there is room for "+text, func() bool {
		return r.nodes[from].Send(p, 1-from, []byte(text), true)
	})
}

// A result is what a Receive has returned.
type result struct {
	text string
	err  error
}

// receive begins to receive a message at a node.
func (r *rig) receive(ctx context.Context, at int, p *msg.Port) <-chan result {
	done := make(chan result, 1)
	go func() {
		buf := make([]byte, 64)
		m, _, err := r.nodes[at].Receive(ctx, p, msg.Any, buf)
		done <- result{string(buf[:m.N]), err}
	}()
	return done
}

// want waits for the end of a receive that must have brought a message.
func (r *rig) want(done <-chan result, text string) {
	r.Helper()
	if got := r.end(done); got.err != nil || got.text != text {
		r.Errorf("received %q, %v; want %q", got.text, got.err, text)
	}
}

// end waits for the end of a receive.
func (r *rig) end(done <-chan result) result {
	return <-done
}

// look runs f under a node's lock.
func (r *rig) look(at int, f func(n *Node) bool) bool {
	n := r.nodes[at]
	n.mu.Lock()
	defer n.mu.Unlock()
	return f(n)
}

// untilParked waits until so many goroutines sleep at a node, and one sleeps on its doorbell: one of them, or the
// service, which takes the place of a goroutine that has returned.
func (r *rig) untilParked(at, goroutines int) {
	r.Helper()
	r.until("goroutines are parked", func() bool {
		return r.look(at, func(n *Node) bool {
			return n.duty.Asleep() == goroutines && (n.duty.Sleeper() != nil || n.duty.Service() == duty.Dormant) &&
				n.bell.State() == transport.Asleep && r.bells[at].sleepers.Load() > 0
		})
	})
}

// untilServed waits until a node's service sleeps on the doorbell in a state.
func (r *rig) untilServed(at int, s transport.State) {
	r.Helper()
	r.until("the service sleeps: "+s.String(), func() bool {
		return r.look(at, func(n *Node) bool {
			return n.duty.Service() == duty.Dormant && n.bell.State() == s && r.bells[at].sleepers.Load() > 0
		})
	})
}

// slept returns how often goroutines at a node have slept for receives.
func (r *rig) slept(at int) (times uint64) {
	r.look(at, func(n *Node) bool {
		times = n.stats.page.Node.Waits[counters.Receive].Slept
		return true
	})
	return times
}

// pull reads a region of the other node, by packets.
func (r *rig) pull(at int, region *rma.Region, size int) ([]byte, error) {
	c := NewCall()
	defer c.Free()
	buf := make([]byte, size)
	c.RMA.Kind = rma.Pull
	c.RMA.Peer = 1 - at
	c.RMA.Region = region.ID
	c.RMA.Key = region.Key
	c.RMA.Off = 0
	c.RMA.Buf = buf
	ctx, cancel := context.WithTimeout(r.Context(), patienceOfTests)
	defer cancel()
	err := r.nodes[at].Memory(ctx, c)
	return buf, err
}
