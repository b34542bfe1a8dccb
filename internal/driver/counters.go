package driver

import (
	"sync/atomic"
	"time"

	"weft/internal/counters"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/monotime"
)

// stats is the page of counters that other processes may read, and when the node writes to it.
// What the node counts is seen there at once. What transports count themselves, and the memory
// held, is copied there from time to time, and before a goroutine falls asleep.
type stats struct {
	page     *counters.Page
	epoch    int64         // Unix time in ns at time 0
	updateAt monotime.Time // when transports are asked next
	memoryAt monotime.Time // when memory is measured next
	held     atomic.Uint64 // bytes that Hold has told of
}

// How often that is, while there is something to do.
const (
	updateTick = 10 * time.Millisecond
	memoryTick = 250 * time.Millisecond
)

// wall returns the time as counters have it: Unix time in ns.
func (n *Node) wall(now monotime.Time) int64 { return n.stats.epoch + int64(now) }

// update writes down what transports have counted. The lock is held.
func (n *Node) update(now monotime.Time) {
	if n.life.closed {
		return
	}
	n.stats.updateAt = now.Add(updateTick)
	page := n.stats.page.Node
	page.Updated = n.wall(now)
	for i, t := range n.transports.all[:min(len(n.transports.all), counters.MaxTransports)] {
		c := t.Counts()
		shown := &page.Transports[i]
		if c.Unsent > shown.Unsent {
			page.Fail(page.Updated, -1, "packets that the kernel would not send", c.Unsent-shown.Unsent)
		}
		shown.Local = c
	}
	if d := n.eng.Dropped(); d != page.Dropped {
		n.dropped(d)
	}
	if now >= n.stats.memoryAt {
		n.stats.memoryAt = now.Add(memoryTick)
		n.updateMemory()
	}
}

// dropped writes down that packets have not been accepted.
func (n *Node) dropped(d counters.Dropped) {
	page := n.stats.page.Node
	old := n.stats.page.Node.Dropped
	for _, r := range []struct {
		what     string
		now, old uint64
	}{
		{"malformed packets", d.Malformed, old.Malformed},
		{"packets of another job, or for another rank", d.Foreign, old.Foreign},
		{"packets with a wrong authentication tag", d.Forged, old.Forged},
		{"packets seen before", d.Replayed, old.Replayed},
		{"packets of an earlier incarnation, or of a rank that is gone", d.Stale, old.Stale},
	} {
		if r.now > r.old {
			page.Fail(page.Updated, -1, r.what, r.now-r.old)
		}
	}
	page.Dropped = d
}

// updateMemory writes down how much memory the node and its transports hold, and what Hold has
// said.
func (n *Node) updateMemory() {
	held := uint64(n.eng.Msg.MemoryBytes()) + n.stats.held.Load()
	mapped := uint64(0)
	for i, t := range n.transports.all[:min(len(n.transports.all), counters.MaxTransports)] {
		b := t.MemoryBytes()
		n.stats.page.Node.Transports[i].Memory = b
		held += b
		if m := t.Memory(); m != nil {
			mapped += m.Mapped()
		}
	}
	n.stats.page.Node.Memory = held
	n.stats.page.Node.Mapped = mapped
}

// Hold says how many bytes of memory the process holds besides what the node and its
// transports do. Any goroutine may call it.
func (n *Node) Hold(bytes uint64) { n.stats.held.Store(bytes) }

// CountsOf returns where access to a rank's memory is counted. Any goroutine may call it.
func (n *Node) CountsOf(rank int) *counters.Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats.page.Peer(rank)
}

// fail counts an error, of a peer or of none (-1). The lock is held.
func (n *Node) fail(peer int, what string) {
	if !n.life.closing.Load() {
		n.stats.page.Node.Fail(n.wall(n.now()), peer, what, 1)
	}
}

// show writes down by which transport a peer is reached. The lock is held.
func (n *Node) show(p *Peer) {
	for i, t := range n.transports.all[:min(len(n.transports.all), counters.MaxTransports)] {
		if t == p.Transport {
			n.stats.page.Peer(p.Rank).Transport = uint64(i) + 1
		}
	}
}

// How the operations of calls are counted.
var (
	messageOperations = [...]counters.Operation{
		msg.Send: counters.Send, msg.Recv: counters.Receive, msg.Flush: counters.Flush,
		msg.Room: counters.Send, msg.Await: counters.Receive, msg.Freeze: counters.Other,
	}
	memoryOperations = [...]counters.Operation{
		rma.Attach: counters.Attach, rma.Push: counters.Push, rma.Pull: counters.Pull, rma.Atomic: counters.Atomic,
		rma.Flush: counters.Flush, rma.IPush: counters.Deliver, rma.Await: counters.Receive,
	}
	objectOperations = [...]counters.Operation{
		coord.QueueLock: counters.Lock, coord.CentralLock: counters.Lock, coord.RWLock: counters.Lock,
		coord.Semaphore: counters.Semaphore, coord.Cond: counters.Condition,
		coord.Barrier: counters.Barrier, coord.Regions: counters.Barrier,
	}
)

// operation returns what a call waits for.
func (c *Call) operation() counters.Operation {
	switch c.is {
	case message:
		return messageOperations[c.Msg.Kind]
	case memory:
		return memoryOperations[c.RMA.Kind]
	}
	if o := c.Sync.Object; o != nil {
		return objectOperations[o.Class]
	}
	return counters.Lock // that guards a region
}

// asleep shows in the counters that a call's goroutine sleeps from now on. It returns the place
// to give to Node.End of the page.
func (n *Node) asleep(c *Call, op counters.Operation, now monotime.Time) (place int) {
	phase := uint64(0)
	name := ""
	switch c.is {
	case memory:
		name = c.RMA.Name
	case coordination:
		if c.Sync.Object != nil {
			name = c.Sync.Object.Name
		}
		if op == counters.Barrier {
			phase = c.Sync.N
		}
	}
	return n.stats.page.Node.Begin(op, c.peer(), n.wall(now), phase, name)
}

// peer returns the rank that a call needs, or -1: any, or it is not known here.
func (c *Call) peer() int {
	switch {
	case c.is == message:
		return max(c.Msg.Peer, -1)
	case c.is == memory && c.RMA.Kind != rma.Await:
		return c.RMA.Peer
	default:
		return -1
	}
}

// A Nap is the sleep of a goroutine that waits for no call.
type Nap struct {
	op    counters.Operation
	place int
	began monotime.Time
}

// Asleep shows in the counters that a goroutine sleeps that waits for no call. Awake must follow.
func (n *Node) Asleep(op counters.Operation, phase uint64, name string) Nap {
	n.mu.Lock()
	defer n.mu.Unlock()
	nap := Nap{op: op, began: n.now()}
	nap.place = n.stats.page.Node.Begin(op, -1, n.wall(nap.began), phase, name)
	return nap
}

// Awake shows in the counters that such a goroutine is awake again.
func (n *Node) Awake(nap Nap) {
	n.Waited(nap.op, 0, n.now().Sub(nap.began))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stats.page.Node.End(nap.place)
}

// Waited counts a wait for what another rank writes to memory: counters.Memory or
// counters.HostBarrier. Only Waited writes to these counters. Any goroutine may call it.
func (n *Node) Waited(op counters.Operation, polled, asleep time.Duration) {
	w := &n.stats.page.Node.Waits[op]
	mem.Word(&w.Count).Add(1)
	if polled > 0 {
		mem.Word(&w.Polled).Add(uint64(polled))
	}
	if asleep > 0 {
		mem.Word(&w.Slept).Add(1)
		mem.Word(&w.Asleep).Add(uint64(asleep))
	}
}
