package driver

import (
	"context"

	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/sys"
	"weft/internal/transport"
)

// park sleeps until the call has ended. The first goroutine to park sleeps on the doorbell
// itself, so that a packet wakes the thread that waits for it, and no other. Goroutines that
// park later sleep on channels of their own. The lock is held, and given up meanwhile.
func (n *Node) park(ctx context.Context, c *Call) error {
	n.waiting.parked++
	n.waiting.streak = 0
	if n.maySleep() {
		if err := n.sleep(ctx, c); err != nil || !n.pending(c) {
			return err
		}
		n.alert() // another goroutine must look after the timers
	}
	c.parked = true
	n.rest()
	for c.parked {
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
		if !woken && c.parked {
			c.parked = false
			n.waiting.parked--
			return n.giveUp(c, ctx.Err())
		}
	}
	n.waiting.waking--
	return nil
}

// maySleep reports whether a goroutine that parks may do so on the doorbell. The lock is held.
func (n *Node) maySleep() bool {
	return n.waiting.sleeper == nil && n.waiting.reaper == nil && !n.cfg.Wait.InProcess && !n.cfg.Wait.Interrupt
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

// sleep sleeps on the doorbell until the call has ended, or another goroutine polls: then it
// returns nil, and the call is still pending and counted as parked. The lock is held, and
// given up meanwhile.
func (n *Node) sleep(ctx context.Context, c *Call) (err error) {
	n.waiting.sleeper = c
	n.ringAtEnd(ctx)
	for n.pending(c) && n.waiting.reaper == nil && err == nil {
		n.answer() // a ring from before: until it is answered, rest arms nothing
		n.doze()
		if !n.pending(c) {
			break
		}
		n.sleepOnce(ctx, c)
		err = ctx.Err()
	}
	n.answer()
	n.waiting.sleeper = nil
	n.waiting.wakeAt = n.service.wakeAt
	if !n.life.closed && n.waiting.wakeAt != 0 && n.late(n.now()) {
		n.alert() // the service fell asleep before this goroutine, and a ring wakes only one
	}
	if err == nil && n.pending(c) {
		return nil
	}
	n.waiting.parked--
	if n.life.closed || !c.pending() {
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
	n.answer()
	n.learn(begun)
	n.waiting.wakeAt = 0
	if n.waiting.reaper == nil && (n.progress() || n.sending.paused) && n.pending(c) && n.waiting.budget > 0 {
		n.linger(ctx, c)
	}
}

// linger polls for what follows a packet that has woken the sleeper. The lock is
// held, and given up meanwhile.
func (n *Node) linger(ctx context.Context, c *Call) {
	n.beginReaping(c)
	n.spin(ctx, c, patience)
	n.endReaping(c)
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

// cancelled wakes the sleeper, whose context has ended.
func (n *Node) cancelled() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.life.closed && n.waiting.sleeper != nil {
		n.ring()
	}
}

// ring wakes the goroutine that sleeps on the doorbell, or is about to. The doorbell stays off
// until that goroutine has answered: if it were armed before, the goroutine could fall asleep
// without having noticed the ring. The lock is held.
func (n *Node) ring() {
	if !n.waiting.rung {
		n.waiting.rung = true
		n.waiting.waking++
	}
	n.bell.Ring()
}

// answer says that the goroutine that was rung has taken the lock.
func (n *Node) answer() {
	if n.waiting.rung {
		n.waiting.rung = false
		n.waiting.waking--
	}
}

// rest makes sure that a goroutine is on duty, after one has stopped polling, or has not
// begun. While another goroutine polls, rest does nothing: that goroutine calls rest when it
// stops. A goroutine already woken does this once it takes the lock. Otherwise rest arms the
// doorbell for the parked goroutines, or for the service that sleeps on it, and calls back a
// service that has left its work to the sleeper. The lock is held.
func (n *Node) rest() {
	switch {
	case n.waiting.reaper != nil || n.waiting.waking > 0 || n.life.closed:
	case n.waiting.parked > 0:
		n.doze()
	case n.service.sleeping && n.bell.State() == transport.Awake:
		if n.arm(transport.Idle) {
			n.alert()
		}
	case n.dutyIsVacant():
		n.alert()
	case n.service.watching && n.sending.paused:
		n.alert()
	}
}

// dutyIsVacant reports whether the service has left its work, for good, to a sleeper that is
// gone. The lock is held.
func (n *Node) dutyIsVacant() bool {
	return n.service.watching && n.service.lookAt == monotime.Never && n.waiting.sleeper == nil
}

// doze makes peers ring for every packet, and receives the packets that came before they
// knew. The lock is held.
func (n *Node) doze() {
	if n.waiting.reaper != nil || n.life.closed {
		return
	}
	if n.service.watching && n.waiting.sleeper == nil {
		n.alert() // the service must sleep on the doorbell
	}
	if n.bell.State() == transport.Asleep {
		return
	}
	n.bell.Set(transport.Asleep)
	for _, t := range n.transports.all {
		t.Arm()
	}
	n.progress()
	if n.eng.Blocked() {
		n.alert() // the goroutine on duty must retry
	}
}
