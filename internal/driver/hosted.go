package driver

import (
	"context"
	"errors"
	"time"

	"weft/failure"
	"weft/internal/interleave"
	"weft/internal/monotime"
)

// A Host stands in for the machine, its clock and its scheduler where there are
// none: in the simulator, where the processes of a whole job share one thread
// and virtual time. The node has no service then; the host calls Tick when
// something has arrived for it, when its alarm rings and when there is room for packets again. Of the goroutines
// that use the node one runs at a time, until it sleeps or enters a call.
type Host interface {
	// Now returns the time.
	Now() monotime.Time

	// Enter begins a call: it returns when the calling goroutine may run. No lock is
	// held.
	Enter()

	// Sleep suspends the calling goroutine until Wake, until the time comes, or until
	// over, if it is not nil, returns true. The host calls over whenever its result may
	// have changed.
	Sleep(until monotime.Time, over func() bool)

	// Self returns the number of the calling goroutine, and Wake ends its Sleep.
	Self() int
	Wake(goroutine int)

	// Go runs f in a goroutine of its own, which may use the node.
	Go(f func())

	// Alarm makes the host call Tick at a time, and perhaps before: an earlier
	// setting is not undone.
	Alarm(at monotime.Time)

	// Later runs f at this same time, but not before the caller has returned.
	Later(f func())
}

// turn begins a call from outside: on a host it waits for the goroutine's turn. The lock is
// not held.
func (n *Node) turn() {
	if n.cfg.Host != nil {
		n.cfg.Host.Enter()
	}
}

// closeLook is how often a hosted node that closes looks whether it may.
const closeLook = time.Millisecond

// Tick handles what has arrived and what is due. The host calls it. Room says that its transport has room for packets
// again, after it had none.
func (n *Node) Tick(room bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	if room {
		n.offerAgain()
	}
	n.progress()
	n.cfg.Host.Alarm(n.eng.Deadline())
}

// lookCost is what a look at what has arrived costs on a host, where computing
// costs nothing: a program that looks again and again must let time pass.
const lookCost = 100 * time.Nanosecond

// Vain is called after a look that has found nothing. If the goroutine or process that could
// have sent something may be waiting for this processor, it is let run. The lock is not held.
func (n *Node) Vain() {
	switch {
	case n.cfg.Host != nil:
		n.cfg.Host.Sleep(n.now().Add(lookCost), nil)
	case n.cfg.Wait.InProcess:
		interleave.Gosched()
	case n.cfg.Wait.Yields > 0:
		interleave.Yield()
	}
}

// waitHosted is wait on a host. The lock is held, and given up meanwhile.
func (n *Node) waitHosted(ctx context.Context, c *Call) error {
	until := n.deadline(ctx)
	if n.pending(c) {
		op := c.operation()
		began := n.now()
		place := n.asleep(c, op, began)
		defer func() {
			w := &n.stats.page.Node.Waits[op]
			w.Count++
			w.Slept++
			w.Asleep += uint64(n.now().Sub(began))
			n.stats.page.Node.End(place)
		}()
	}
	for n.pending(c) {
		if err := n.over(ctx, until); err != nil {
			return n.giveUp(c, err)
		}
		c.hosted = true
		c.goroutine = n.cfg.Host.Self()
		slept := n.mark()
		n.mu.Unlock()
		n.cfg.Host.Sleep(until, n.ended(ctx))
		n.mu.Lock()
		if n.timeline != nil {
			n.noteSleep(slept)
		}
		c.hosted = false
	}
	return nil
}

// ended returns what reports that a call must end: the node has, or its context.
func (n *Node) ended(ctx context.Context) func() bool {
	return func() bool { return n.life.closed || cancelled(ctx) }
}

// cancelled reports whether a context has ended, other than by its deadline, which is
// in real time.
func cancelled(ctx context.Context) bool {
	if ctx.Done() == nil {
		return false
	}
	err := ctx.Err()
	return err != nil && !errors.Is(err, context.DeadlineExceeded)
}

// pollHosted is Poll on a host. Memory changes there when packets arrive, and when other
// goroutines of the host run.
func (n *Node) pollHosted(ctx context.Context, cond func() bool) error {
	err := n.AwaitHosted(ctx, func() bool { return cond() || n.life.closing.Load() })
	if err == nil && !cond() {
		err = failure.ErrClosed
	}
	return err
}

// AwaitHosted waits on a host until cond holds, which another goroutine makes true, or
// what arrives.
func (n *Node) AwaitHosted(ctx context.Context, cond func() bool) error {
	return n.awaitHosted(Endless(ctx), cond)
}

// awaitHosted does not assign its context: the closure would move it to the heap.
func (n *Node) awaitHosted(ctx context.Context, cond func() bool) error {
	n.turn()
	until := n.deadline(ctx)
	for !cond() {
		if err := n.over(ctx, until); err != nil {
			return err
		}
		n.cfg.Host.Sleep(until, func() bool { return cond() || cancelled(ctx) })
	}
	return nil
}

// SleepHosted lets d pass on a host.
func (n *Node) SleepHosted(ctx context.Context, d time.Duration) error {
	return n.sleepHosted(Endless(ctx), d)
}

// sleepHosted does not assign its context, as awaitHosted.
func (n *Node) sleepHosted(ctx context.Context, d time.Duration) error {
	n.turn()
	until := n.now().Add(d)
	limit := n.deadline(ctx)
	for n.now() < until {
		if err := n.over(ctx, limit); err != nil {
			return err
		}
		n.cfg.Host.Sleep(min(until, limit), func() bool { return cancelled(ctx) })
	}
	return nil
}

// Go runs f in a goroutine of its own. On a host that goroutine takes turns with the others.
func (n *Node) Go(f func()) {
	if n.cfg.Host == nil {
		go f()
		return
	}
	n.turn()
	n.cfg.Host.Go(f)
}

// Hosted reports whether the node runs on a Host.
func (n *Node) Hosted() bool { return n.cfg.Host != nil }

// over returns why a wait must end.
func (n *Node) over(ctx context.Context, until monotime.Time) error {
	if n.now() >= until {
		return context.DeadlineExceeded
	}
	if cancelled(ctx) {
		return ctx.Err()
	}
	return nil
}

// deadline returns the host's time for the deadline of a context, which is in
// real time. The deadline becomes the time that was left of it when it was first seen, in whole
// milliseconds: real time passes at another pace, and differently in each run.
func (n *Node) deadline(ctx context.Context) monotime.Time {
	real, ok := ctx.Deadline()
	if !ok {
		return monotime.Never
	}
	key := real.UnixNano()
	at, ok := n.deadlines[key]
	if !ok {
		if len(n.deadlines) > 1000 {
			clear(n.deadlines)
		}
		if n.deadlines == nil {
			n.deadlines = map[int64]monotime.Time{}
		}
		at = n.now().Add(max(time.Until(real), 0).Round(time.Millisecond))
		n.deadlines[key] = at
	}
	return at
}
