package driver

import (
	"context"
	"slices"
	"time"

	"weft/failure"
	"weft/internal/driver/duty"
	"weft/internal/engine/msg"
)

// wait returns when the call has ended, or the node, or ctx has. In the last case it
// cancels the call. The lock is held, and given up meanwhile.
func (n *Node) wait(ctx context.Context, c *Call) (err error) {
	ctx = Endless(ctx)
	if n.cfg.Host != nil {
		err = n.waitHosted(ctx, c)
	} else {
		err = n.waitReal(ctx, c)
	}
	if err == nil && c.pending() {
		err = failure.ErrClosed
	}
	return err
}

// waitReal is wait on a real machine: it polls, and then parks.
func (n *Node) waitReal(ctx context.Context, c *Call) error {
	if !n.pending(c) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return n.giveUp(c, err)
	}
	op := c.operation()
	w := &n.stats.page.Node.Waits[op]
	w.Count++
	c.polled = 0
	n.carry(n.duty.Begin(&c.duty, n.streakTime()))
	if c.duty.State == duty.Polling {
		err := n.reap(ctx, c)
		w.Polled += uint64(c.polled)
		if err != nil || !n.pending(c) {
			n.restAfterPolling()
			return err
		}
	}
	began := n.now()
	c.since = began
	c.polled = 0
	n.waiting.calls = append(n.waiting.calls, c)
	place := n.asleep(c, op, began)
	n.update(began)
	err := n.park(ctx, c)
	n.rest()
	n.waiting.calls = slices.DeleteFunc(n.waiting.calls, func(o *Call) bool { return o == c })
	now := n.now()
	n.waiting.adapt(now.Sub(began.Add(c.copying())), n.cfg.Wait.Budget)
	n.stats.page.Node.End(place)
	w.Slept++
	w.Polled += uint64(c.polled)
	w.Asleep += uint64(max(now.Sub(began)-c.polled, 0))
	return err
}

// giveUp cancels a call whose context has ended, unless the call has ended first, and
// returns the error of the wait.
func (n *Node) giveUp(c *Call, err error) error {
	if !n.pending(c) {
		return nil
	}
	if n.cancel(c) && c.acts() {
		return &failure.UnknownOutcomeError{Err: err}
	}
	return err
}

// copying returns how long the peer will be busy copying the call's bytes, if
// it is a long send: to sleep that short a time would cost more than it saves.
func (c *Call) copying() time.Duration {
	const (
		perByte = 0.25
		most    = time.Millisecond
	) // ns
	if c.is != message || c.Msg.Kind != msg.Send {
		return 0
	}
	return min(time.Duration(perByte*float64(len(c.Msg.Buf))), most)
}
