package driver

import (
	"errors"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/transport"
)

// A counting transport has counted what a test says, and holds memory.
type counting struct {
	*sink
	counts counters.Local
	held   uint64
}

func (c *counting) Counts() counters.Local { return c.counts }
func (c *counting) MemoryBytes() uint64    { return c.held }

// A shown page is a node's counters in memory, as other processes read them.
type shown struct {
	*testing.T
	memory []byte
	page   *counters.Page
}

// newShown returns the page of rank 0 of three.
func newShown(t *testing.T) *shown {
	s := &shown{T: t, memory: make([]byte, counters.NodeSize+3*counters.PeerSize)}
	s.page = counters.Over(s.memory, counters.Identity{Size: 3}, func() []byte { return s.memory[counters.NodeSize:] })
	return s
}

// read returns what the page shows.
func (s *shown) read() *counters.Snapshot {
	s.Helper()
	all, err := counters.Parse(s.memory)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// errors returns the errors that the page shows, with how often each was met.
func (s *shown) errors() map[string]uint64 {
	all := map[string]uint64{}
	for _, e := range s.read().Errors {
		all[e.Text] += e.Count
	}
	return all
}

// newNode returns a node that counts on the page, and has no service.
func (s *shown) newNode(transports ...transport.Transport) *Node {
	n := New(Config{Host: &clockwork{step: time.Microsecond}, Engine: engine.Config{
		Size: 3, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }, Counters: s.page,
	}})
	n.Start(doorbell.NewChan(), transports...)
	return n
}

// What transports have counted is copied now and then, and what is new of packets that the kernel would not send is an
// error. Memory is measured less often: the node's, that of its transports, and what Hold says.
func TestUpdate(t *testing.T) {
	p := newShown(t)
	s := &counting{sink: &sink{}, held: 100}
	n := p.newNode(s)
	n.mu.Lock()
	defer n.mu.Unlock()
	page := n.stats.page.Node
	at := n.stats.memoryAt.Add(memoryTick)
	n.updateMemory()
	before := page.Memory
	s.held = 300
	for i, c := range []struct {
		unsent, held uint64
		after        time.Duration
		shown        uint64
		memory       uint64
	}{
		{0, 7, 0, 0, 207}, {5, 8, 1, 5, 207}, {7, 1 << 40, memoryTick - 1, 7, 207}, {7, 1 << 40, memoryTick, 7, 1<<40 + 200},
	} {
		s.counts.Unsent = c.unsent
		n.Hold(c.held)
		n.update(at.Add(c.after))
		if e := p.errors()["packets that the kernel would not send"]; e != c.shown || page.Memory-before != c.memory {
			t.Errorf("%d: %d unsent, and %d bytes more held; want %d and %d", i, e, page.Memory-before, c.shown, c.memory)
		}
	}
	n.stats.page.Node.Dropped = counters.Dropped{Malformed: 1, Stale: 2}
	n.dropped(counters.Dropped{Malformed: 4, Foreign: 2, Stale: 2})
	all := p.errors()
	n.life.closed = true // its transports may be gone
	s.counts.Unsent = 99
	n.update(at.Add(time.Hour))
	if e := p.errors()["packets that the kernel would not send"]; e != 7 {
		t.Errorf("a closed node asks its transports: %d packets", e)
	}
	if all["malformed packets"] != 3 || all["packets of another job, or for another rank"] != 2 || len(all) != 3 {
		t.Errorf("%v", all)
	}
}

// Waited counts a wait, and a sleep only if there was one. An error is counted until the node closes.
func TestWaited(t *testing.T) {
	p := newShown(t)
	n := p.newNode()
	n.Waited(counters.Memory, 0, 0)
	n.Waited(counters.Memory, 5, 0)
	n.Waited(counters.Memory, 1, 7)
	if w := n.stats.page.Node.Waits[counters.Memory]; w.Count != 3 || w.Polled != 6 || w.Slept != 1 || w.Asleep != 7 {
		t.Errorf("%+v", w)
	}
	n.fail(1, "before")
	n.Quit()
	n.fail(1, "after")
	if all := p.errors(); all["before"] != 1 || all["after"] != 0 {
		t.Errorf("%v", all)
	}
}

// The sleep of a goroutine that waits for no call is shown and counted.
func TestNap(t *testing.T) {
	p := newShown(t)
	n := p.newNode()
	nap := n.Asleep(counters.HostBarrier, 3, "name")
	all := p.read().Waiting
	if len(all) != 1 || all[0].Phase != 3 || all[0].Name != "name" || all[0].Peer != -1 {
		t.Errorf("%+v", all)
	}
	n.Awake(nap)
	if w := p.page.Node.Waits[counters.HostBarrier]; len(p.read().Waiting) != 0 || w.Slept != 1 || w.Asleep != 1000 {
		t.Errorf("%+v", w)
	}
}

// A peer is shown with the place of its transport, from 1. What ends it is an error once, unless it has left.
func TestPeersAreShown(t *testing.T) {
	p := newShown(t)
	all := []transport.Transport{&sink{}, &sink{}}
	n := p.newNode(all...)
	for i, s := range all {
		n.connect(i+1, Route{Transport: s})
		if got := p.page.Peer(i + 1).Transport; got != uint64(i+1) {
			t.Errorf("rank %d is reached by transport %d", i+1, got)
		}
	}
	n.Down(1, errors.New("it has ended"), false)
	n.Down(1, errors.New("once more"), false)
	n.Down(2, errors.New("it has left"), true)
	if all := p.errors(); all["it has ended"] != 1 || len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// A wait is shown with the rank that it needs, if it needs one.
func TestPeerOfCall(t *testing.T) {
	for i, c := range []struct {
		call *Call
		want int
	}{
		{&Call{is: message, Msg: msg.Op{Peer: 3}, RMA: rma.Op{Peer: 2}}, 3},
		{&Call{is: message, Msg: msg.Op{Peer: msg.Any}, RMA: rma.Op{Peer: 2}}, -1},
		{&Call{is: memory, RMA: rma.Op{Kind: rma.Pull, Peer: 2}}, 2},
		{&Call{is: memory, RMA: rma.Op{Kind: rma.Await, Peer: 2}}, -1},
		{&Call{is: coordination, RMA: rma.Op{Peer: 2}}, -1},
	} {
		if got := c.call.peer(); got != c.want {
			t.Errorf("%d: rank %d, not %d", i, got, c.want)
		}
	}
}
