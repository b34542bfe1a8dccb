package driver

import (
	"context"
	"errors"
	"time"

	"weft/internal/engine/link"
	"weft/internal/monotime"
)

// A Host stands in for the machine, its clock and its scheduler where there are
// none: in the simulator, where the processes of a whole job share one thread
// and virtual time. The node has no service then; the host calls Tick when
// something has arrived for it and when its alarm rings. At most one goroutine
// of a hosted process uses its node.
type Host interface {
	// Now returns the time.
	Now() monotime.Time

	// Sleep suspends the calling goroutine until Wake, or until the time comes.
	Sleep(until monotime.Time)

	// Wake ends Sleep, if somebody sleeps.
	Wake()

	// Alarm makes the host call Tick at a time, and perhaps before: an earlier
	// setting is not undone.
	Alarm(at monotime.Time)

	// Later runs f at this same time, but not before the caller has returned.
	Later(f func())
}

// closeLook is how often a hosted node that closes looks whether it may.
const closeLook = time.Millisecond

// Tick handles what has arrived and what is due. The host calls it.
func (n *Node) Tick() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.progress()
	n.cfg.Host.Alarm(n.eng.Deadline())
	if n.polling {
		n.cfg.Host.Wake()
	}
}

// lookCost is what a look at what has arrived costs on a host, where computing
// costs nothing: a program that looks again and again must let time pass.
const lookCost = 100 * time.Nanosecond

// vain is called after a look on which nothing was found. The lock is not held.
func (n *Node) vain() {
	if n.cfg.Host != nil {
		n.cfg.Host.Sleep(n.now().Add(lookCost))
	}
}

// wakeSleeper wakes the goroutine of the call n.sleeper. The lock is held.
func (n *Node) wakeSleeper() {
	if n.cfg.Host != nil {
		n.cfg.Host.Wake()
	} else {
		n.bell.Ring()
	}
}

// waitHosted is wait on a host. The lock is held, and given up meanwhile.
func (n *Node) waitHosted(ctx context.Context, c *Call) error {
	until := n.deadline(ctx)
	for n.pending(c) {
		if err := n.over(ctx, until); err != nil {
			return n.giveUp(c, err)
		}
		n.sleeper = c
		n.mu.Unlock()
		n.cfg.Host.Sleep(until)
		n.mu.Lock()
		n.sleeper = nil
	}
	return nil
}

// pollHosted is Poll on a host: memory changes only when packets arrive.
func (n *Node) pollHosted(ctx context.Context, cond func() bool) error {
	until := n.deadline(ctx)
	n.polling = true
	defer func() { n.polling = false }()
	for !cond() {
		if err := n.over(ctx, until); err != nil {
			return err
		}
		if n.closing.Load() {
			return link.ErrClosed
		}
		n.cfg.Host.Sleep(until)
	}
	return nil
}

// SleepHosted lets d pass on a host.
func (n *Node) SleepHosted(ctx context.Context, d time.Duration) error {
	until := n.now().Add(d)
	limit := n.deadline(ctx)
	for n.now() < until {
		if err := n.over(ctx, limit); err != nil {
			return err
		}
		n.cfg.Host.Sleep(min(until, limit))
	}
	return nil
}

// Hosted reports whether the node runs on a Host.
func (n *Node) Hosted() bool { return n.cfg.Host != nil }

// over returns why a wait must end.
func (n *Node) over(ctx context.Context, until monotime.Time) error {
	if n.now() >= until {
		return context.DeadlineExceeded
	}
	// A deadline that has passed in real time says nothing.
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// deadline returns the host's time for the deadline of a context, which is in
// real time. What was left of it when it was first seen counts, in whole
// milliseconds: real time passes at another pace, and differently each time.
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
