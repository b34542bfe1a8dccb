package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/driver/duty"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/monotime"
)

// A Call is one operation of one goroutine: the engine's part, and what the
// goroutine needs to wait for it. Calls are reused; get one with NewCall and
// give it back with Free.
type Call struct {
	Msg  msg.Op
	RMA  rma.Op
	Sync coord.Op

	is     call
	port   *msg.Port     // of Msg
	since  monotime.Time // when its goroutine stopped polling, while it is in waiting.calls
	polled time.Duration // for which its goroutine has polled, in this wait
	ended  atomic.Bool
	duty   duty.Waiter   // its goroutine
	wake   chan struct{} // gets a token when its goroutine, which is Parked, must come back
	notice chan struct{} // gets a token at its end; see notify.go

	began int64 // by the clock of the timeline, if there is one
	over  int64 // when it ended, if apart is set
	apart bool  // its goroutine may do something else before it waits

	hosted    bool // its goroutine sleeps on the host
	goroutine int  // and has this number there
}

// A call says which of its operations a Call is.
type call uint8

const (
	message call = iota
	memory
	coordination
)

// calls are free Calls. A Call owns its three operations and its channel, so that no operation allocates.
var calls = sync.Pool{New: func() any {
	c := &Call{wake: make(chan struct{}, 1)}
	c.own()
	return c
}}

// own makes the call the owner of its operations.
func (c *Call) own() {
	c.Msg.Owner = c
	c.RMA.Owner = c
	c.Sync.Owner = c
}

// cachedCalls are calls for the next operation: they save the way to the pool.
type cachedCalls struct {
	receive      *Call
	coordination *Call
}

// NewCall returns a call to fill in.
func NewCall() *Call { return calls.Get().(*Call) }

// Free gives a call back. Nothing may refer to it any more.
func (c *Call) Free() {
	select {
	case <-c.wake:
	default:
	}
	*c = Call{wake: c.wake}
	c.own()
	calls.Put(c)
}

// reset marks the call as not ended. It loads first, since that is cheaper than to store.
func (c *Call) reset() {
	if c.ended.Load() {
		c.ended.Store(false)
	}
}

// end marks the call as ended and wakes its goroutine. The lock is held.
func (c *Call) end(n *Node) {
	if c.apart {
		c.over = n.timeline.Now()
	}
	if !c.duty.Polls() { // one that polls sees by itself that its call has ended
		c.ended.Store(true)
	}
	if c.hosted {
		n.cfg.Host.Wake(c.goroutine)
	}
	c.rouse(n)
	c.notify(n)
}

// rouse wakes the call's goroutine if it sleeps. The lock is held.
func (c *Call) rouse(n *Node) {
	a := n.duty.Ended(&c.duty)
	if a == duty.Signal {
		post(c.wake)
		return
	}
	n.carry(a)
}

// Memory runs a remote memory operation to its end, or until ctx is done; see
// Wait.
func (n *Node) Memory(ctx context.Context, c *Call) error {
	n.Begin(c)
	return n.Wait(ctx, c)
}

// Message runs a message operation to its end, or until ctx is done. It
// returns the operation's error, or ctx's in a WaitError; then the operation has not
// happened. An Offered receive counts as ended: the caller goes on with it.
func (n *Node) Message(ctx context.Context, p *msg.Port, c *Call) error {
	n.enter()
	defer n.mu.Unlock()
	n.submit(p, c)
	n.flush(n.clock())
	return n.finish(ctx, c)
}

// submit hands a message operation to the engine, unless the node is closing. The
// lock is held.
func (n *Node) submit(p *msg.Port, c *Call) {
	if n.life.closing.Load() {
		c.is = message
		c.port = p
		c.Msg.State = msg.Done
		c.Msg.Err = failure.ErrClosed
		c.Msg.Block = nil
		return
	}
	n.hand(p, c)
}

// hand hands a message operation to the engine. The lock is held.
func (n *Node) hand(p *msg.Port, c *Call) {
	c.is = message
	c.port = p
	c.duty.MakesWay = c.Msg.Kind == msg.Send && len(c.Msg.Buf) > run
	c.reset()
	c.began = n.mark()
	n.eng.Start(p, &c.Msg)
}

// finish waits for a started call. The lock is held.
func (n *Node) finish(ctx context.Context, c *Call) error {
	err := n.outcome(ctx, c)
	if n.timeline != nil {
		n.noteCall(c, err)
	}
	return err
}

// outcome waits for a started call, and returns its error. The lock is held.
func (n *Node) outcome(ctx context.Context, c *Call) error {
	if c.pending() {
		if err := n.wait(ctx, c); err != nil {
			return n.explain(c, err)
		}
	}
	var err error
	switch c.is {
	case message:
		err = c.Msg.Err
	case memory:
		err = c.RMA.Err
	default:
		err = c.Sync.Err
	}
	if err != nil {
		return n.explain(c, err)
	}
	return nil
}

// pending reports whether the engine still has a call and will end it: the engine of a closed
// node ends none. The lock is held.
func (n *Node) pending(c *Call) bool { return !n.life.closed && c.pending() }

// pending reports whether the engine still has the call. The lock is held.
func (c *Call) pending() bool {
	switch c.is {
	case message:
		return c.Msg.State == msg.Pending
	case memory:
		return !c.RMA.Done
	default:
		return !c.Sync.Done
	}
}

// Begin starts a remote memory operation and returns at once. Wait must follow.
func (n *Node) Begin(c *Call) {
	n.enter()
	defer n.mu.Unlock()
	n.begin(c)
}

// begin is Begin with the lock held.
func (n *Node) begin(c *Call) {
	c.is = memory
	c.duty.MakesWay = len(c.RMA.Buf) > run
	c.reset()
	c.began = n.mark()
	c.over = 0
	c.apart = n.timeline != nil
	if n.life.closing.Load() {
		c.RMA.Done = true
		c.RMA.Err = failure.ErrClosed
	} else {
		n.eng.RMA.Start(&c.RMA)
		n.flush(n.clock())
	}
	if c.RMA.Done {
		c.ended.Store(true)
		c.over = n.mark()
	}
}

// Launch starts a message operation and returns at once. Wait must follow.
func (n *Node) Launch(p *msg.Port, c *Call) {
	n.enter()
	defer n.mu.Unlock()
	c.over = 0
	c.apart = n.timeline != nil
	n.submit(p, c)
	n.flush(n.clock())
	if !c.pending() {
		c.ended.Store(true)
		c.over = n.mark()
	}
}

// Ended reports whether a started call has ended, having looked for news.
func (n *Node) Ended(c *Call) bool {
	if c.ended.Load() {
		return true
	}
	n.turn()
	n.lock()
	n.progress()
	ended := !n.pending(c)
	n.mu.Unlock()
	if !ended {
		n.Vain()
	}
	return ended
}

// Wait waits for a started call. When ctx ends first, it returns a WaitError of ctx's
// error, which is wrapped in an UnknownOutcomeError if the target may have acted.
func (n *Node) Wait(ctx context.Context, c *Call) error {
	n.turn()
	n.lock()
	defer n.mu.Unlock()
	c.Msg.Alone = false
	return n.finish(ctx, c)
}

// acts reports whether a remote memory operation that has begun accesses memory: it does not only find a region.
func (c *Call) acts() bool { return c.RMA.Kind != rma.Attach }

// cancel takes a call back from the engine. It reports whether its effect is
// unknown. The lock is held.
func (n *Node) cancel(c *Call) (unknown bool) {
	switch c.is {
	case message:
		n.eng.Cancel(c.port, &c.Msg)
	case coordination:
		n.eng.Coord.Cancel(&c.Sync)
	default:
		unknown = n.eng.CancelAccess(&c.RMA)
	}
	n.flush(n.clock())
	return unknown
}
