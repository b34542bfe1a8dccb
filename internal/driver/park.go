package driver

import (
	"context"

	"weft/internal/driver/duty"
	"weft/internal/interleave"
	"weft/internal/sys"
	"weft/internal/transport"
)

// park sleeps until the call has ended. The first goroutine to park sleeps on the doorbell
// itself, so that a packet wakes the thread that waits for it, and no other. Goroutines that
// park later sleep on channels of their own. The lock is held, and given up meanwhile.
func (n *Node) park(ctx context.Context, c *Call) error {
	n.carry(n.duty.Park(&c.duty))
	if c.duty.State == duty.Sleeping {
		if err := n.sleep(ctx, c); err != nil {
			return err
		}
	}
	for c.duty.State == duty.Parked {
		slept := n.mark()
		n.mu.Unlock()
		if n.cfg.Wait.Interrupt {
			n.expect(c)
		}
		woken := interleave.Wait(c.wake, ctx.Done())
		n.mu.Lock()
		if n.timeline != nil {
			n.noteSleep(slept)
		}
		if !woken && c.duty.State == duty.Parked {
			n.duty.Back(&c.duty)
			return n.giveUp(c, ctx.Err())
		}
	}
	n.duty.Back(&c.duty)
	return nil
}

// expect polls until the service says that the call has ended, or the budget is spent.
// The lock is not held.
func (n *Node) expect(c *Call) {
	for end := n.now().Add(n.cfg.Wait.Budget); len(c.wake) == 0 && n.now() < end; {
		for range glances {
			if len(c.wake) > 0 {
				return
			}
			sys.Pause()
		}
	}
}

// sleep sleeps on the doorbell until the call has ended, or must sleep on its channel since
// another goroutine polls. The lock is held, and given up meanwhile.
func (n *Node) sleep(ctx context.Context, c *Call) (err error) {
	n.ringAtEnd(ctx)
	for n.pending(c) && err == nil {
		n.carry(n.duty.Doze(&c.duty))
		if c.duty.State == duty.Parked {
			return nil
		}
		if !n.pending(c) {
			break
		}
		n.sleepOnce(ctx, c)
		err = ctx.Err()
	}
	n.duty.Rise(&c.duty)
	n.waiting.retrying = false // the service, if that is on duty now, may have fallen asleep before this goroutine
	n.remind(n.now())
	if err == nil {
		return nil
	}
	return n.giveUp(c, err)
}

// sleepOnce sleeps on the doorbell once, and handles what has come meanwhile. The lock is held,
// and given up meanwhile.
func (n *Node) sleepOnce(ctx context.Context, c *Call) {
	d := n.until(-1)
	begun := n.company.begun
	crowded := n.crowded()
	slept := n.mark()
	n.mu.Unlock()
	if crowded {
		n.cede() // with this thread the kernel takes their processor
	}
	n.bell.Sleep(transport.Asleep, d)
	n.mu.Lock()
	if n.timeline != nil {
		n.noteSleep(slept)
	}
	n.duty.Woke()
	n.learn(begun)
	if n.duty.Poller() == nil && (n.progress() || n.sending.paused) && n.pending(c) && n.waiting.budget > 0 {
		n.carry(n.duty.Linger(&c.duty))
		n.spin(ctx, c, patience)
		n.duty.Spent(&c.duty)
	}
}

// ringAtEnd makes the end of ctx ring the doorbell. The last context is remembered:
// programs wait again and again with the same.
func (n *Node) ringAtEnd(ctx context.Context) {
	w := &n.waiting
	if w.ctx == ctx {
		return
	}
	if w.stopCtx != nil {
		w.stopCtx()
		w.stopCtx = nil
	}
	w.ctx = ctx
	if ctx.Done() != nil {
		w.stopCtx = interleave.AfterFunc(ctx, n.cancelled)
	}
}

// cancelled wakes the goroutine that sleeps on the doorbell, whose context has ended.
func (n *Node) cancelled() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.carry(n.duty.Cancelled())
}
