package driver

import (
	"context"
	"slices"
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/mutant"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Waiting says how the goroutines of a node wait.
type Waiting struct {
	// Budget is the longest time that a goroutine polls before it parks. 0:
	// park at once.
	Budget time.Duration

	// Yields is how often a goroutine gives its processor to another process
	// before it parks. It takes the place of polling where the job has more
	// ranks on this host than processors: polling would burn the time slices
	// of those it waits for.
	Yields int

	// Interrupt: a goroutine that waits polls its own call, and not the transports.
	// The service sleeps on the doorbell meanwhile, and brings the packets as an
	// interrupt would: reaping off, as paper 004 measures it. To compare with.
	Interrupt bool

	// InProcess: peers are goroutines of this process, so polling must let
	// them run.
	InProcess bool
}

// The spin budget doubles when a wait that parked turns out to have been
// short, and shrinks by an eighth when it was long: one that was held up now
// and then must not spoil the others.
const minBudget = time.Microsecond

// tick is how long the service takes to notice that nobody reaps any more, and
// to arm the doorbell. Until then urgent packets wait. It grows to maxTick
// while there is reaping all the time.
const (
	tick    = time.Millisecond
	maxTick = 8 * time.Millisecond
)

// retry is how soon packets that found no room are offered again when nobody
// reaps.
const retry = 100 * time.Microsecond

// wait returns when the call has ended, or the node, or ctx has. In the last case it
// cancels the call. The lock is held, and given up meanwhile.
func (n *Node) wait(ctx context.Context, c *Call) (err error) {
	if n.cfg.Host != nil {
		err = n.waitHosted(ctx, c)
	} else {
		err = n.waitReal(ctx, c)
	}
	if err == nil && c.pending() {
		err = link.ErrClosed
	}
	return err
}

func (n *Node) waitReal(ctx context.Context, c *Call) error {
	if !n.pending(c) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return n.giveUp(c, err)
	}
	op := c.operation()
	w := &n.page.Node.Waits[op]
	w.Count++
	c.polled = 0
	if (n.reaper == nil || n.reaper.word) && !n.cfg.Wait.Interrupt {
		err := n.reap(ctx, c)
		w.Polled += uint64(c.polled)
		if err != nil || !n.pending(c) {
			if !mutant.On(mutant.NoRest) {
				n.rest()
			}
			return err
		}
	}
	began := n.now()
	c.since, c.polled = began, 0
	n.waits = append(n.waits, c)
	place := n.asleep(c, op, began)
	n.update(began)
	err := n.park(ctx, c)
	n.rest()
	n.waits = slices.DeleteFunc(n.waits, func(o *Call) bool { return o == c })
	now := n.now()
	n.adapt(now.Sub(began.Add(c.copying())))
	n.page.Node.End(place)
	w.Slept++
	w.Polled += uint64(c.polled)
	w.Asleep += uint64(max(now.Sub(began)-c.polled, 0))
	return err
}

func (n *Node) giveUp(c *Call, err error) error {
	if !n.pending(c) {
		return nil
	}
	if n.cancel(c) && c.acts() {
		return &UnknownOutcome{err}
	}
	return err
}

// reap polls until the call has ended or the budget is spent: the waiter runs
// the protocol itself and nothing is woken. Rest or park must follow. The lock is held.
func (n *Node) reap(ctx context.Context, c *Call) error {
	n.reaper = c
	n.reaped++
	ops := n.ops
	if n.parked > 0 {
		n.bell.Set(transport.Awake) // nobody need be woken for what we see
	}
	if n.company.Load() > 0 {
		n.mu.Unlock()
		interleave.Gosched() // the goroutine that we have just handed something
		n.mu.Lock()
	}
	var second monotime.Time // when it has given way twice: a wait that is over before does not read the clock
	yields := 0
	for left := n.cfg.Wait.Yields; left > 0; left-- {
		if n.progress(); !n.pending(c) {
			break
		}
		crowded := n.crowded()
		n.mu.Unlock()
		if crowded || n.cfg.Wait.InProcess {
			interleave.Gosched()
		}
		if !n.cfg.Wait.InProcess {
			interleave.Yield()
		}
		if yields++; yields == 2 {
			second = n.now()
		}
		n.mu.Lock()
	}
	if yields > 2 {
		c.polled += n.now().Sub(second) * time.Duration(yields) / time.Duration(yields-2)
	}
	if n.pending(c) && n.budget > 0 {
		n.spin(ctx, c, n.budget+c.copying())
	}
	n.reaper = nil
	n.learn(ops)
	if n.pending(c) {
		if err := ctx.Err(); err != nil {
			return n.giveUp(c, err)
		}
	}
	return nil
}

// glances is how often a reaper looks for packets before it lets go of the
// lock: an answer that is on its way comes within that time, and taking the
// lock again would cost as much as a tenth of a message. Where looking takes a
// system call it lets go more often.
const (
	glances     = 64
	glancesCall = 8
)

// patience is how long a reaper polls after the last packet, whatever its budget:
// while they come, to sleep and be woken for each would cost more than they do.
const patience = 50 * time.Microsecond

// courtesy is how long a reaper polls before it gives its processor to others
// that wait for it, perhaps the very peer that it polls for. It is longer than
// most answers take: to give way costs the answer that comes meanwhile.
//
// Hurry takes its place when goroutines of this process share the work: the peer's are
// then likely to do so too, and more of them want to run than there are processors.
const (
	courtesy = 16 * time.Microsecond
	hurry    = 3 * time.Microsecond
)

// spin looks for packets until the call has ended, or the budget is spent and
// none has come for a while. The lock is held, and given up now and then.
func (n *Node) spin(ctx context.Context, c *Call, budget time.Duration) {
	var end, yield, before monotime.Time
	looks := 0 // since the clock was read
	most := interleave.Brief(glances)
	if n.timed {
		most = interleave.Brief(glancesCall)
	}
	timed := n.timed || n.eng.Timed()
	for !n.closed {
		came, sent, round := false, n.sent, most
		if n.crowded() {
			round = min(round, glancesCall)
		}
		for range round {
			looks++
			now, some := n.receive(n.clock())
			if some || timed || n.eng.Blocked() {
				n.react(now)
				if !c.pending() {
					c.polled += n.looked(looks)
					return
				}
			}
			came = came || some
			if n.pressed() {
				break
			}
			sys.Pause() // the peer may run on the other half of this core
		}
		came = came || n.sent != sent // what had found no room: more may
		crowded, paused := n.crowded(), n.paused
		n.mu.Unlock()
		now := n.now()
		if end == 0 {
			end, yield = now.Add(budget), now.Add(courtesy)
			c.polled += n.looked(looks)
		} else {
			c.polled += now.Sub(before)
		}
		if came {
			end = max(end, now.Add(patience))
		}
		over := now > end || ctx.Err() != nil
		switch {
		case paused: // it has not polled, but sent
			interleave.Gosched()
			yield = now.Add(courtesy)
		case crowded && now > yield.Add(hurry-courtesy):
			interleave.Yield()
			interleave.Gosched()
			yield = now.Add(courtesy)
		case crowded:
			interleave.Gosched()
		case now > yield:
			n.giveWay()
			yield = now.Add(courtesy)
		}
		n.mu.Lock()
		if before != 0 && !came {
			n.gauge(now.Sub(before), looks)
		}
		if before, looks = now, 0; now >= n.updateAt {
			n.update(now)
		}
		if over || !n.pending(c) {
			return
		}
	}
}

// copying returns how long the peer will be busy copying the call's bytes, if
// it is a long send: to sleep that short a time would cost more than it saves.
func (c *Call) copying() time.Duration {
	const perByte, most = 0.25, time.Millisecond // ns
	if c.is != message || c.Msg.Kind != msg.Send {
		return 0
	}
	return min(time.Duration(perByte*float64(len(c.Msg.Buf))), most)
}

// park sleeps until the call has ended. The lock is held, and given up
// meanwhile. The first to park sleeps on the doorbell itself, so that a packet
// wakes the thread that waits for it, and no other; those who come later sleep
// on channels of their own.
func (n *Node) park(ctx context.Context, c *Call) error {
	n.parked++
	if n.sleeper == nil && n.reaper == nil && !n.cfg.Wait.InProcess && !n.cfg.Wait.Interrupt {
		if err := n.sleep(ctx, c); err != nil || !n.pending(c) {
			return err
		}
		n.alert() // somebody else must look after the timers
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
			n.parked--
			return n.giveUp(c, ctx.Err())
		}
	}
	n.rousing--
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

// sleep sleeps on the doorbell until the call has ended, or somebody reaps:
// then it returns nil, and the call is still pending and counted as parked. The
// lock is held, and given up meanwhile.
func (n *Node) sleep(ctx context.Context, c *Call) (err error) {
	n.sleeper = c
	n.rings(ctx)
	for n.pending(c) && n.reaper == nil && err == nil {
		n.answer() // what rang while we were awake: rest would leave it to us for ever
		n.doze()
		if !n.pending(c) {
			break
		}
		d, ops, crowded := n.until(-1), n.ops, n.crowded()
		slept := n.mark()
		n.mu.Unlock()
		if crowded {
			interleave.Gosched() // with this thread the kernel takes their processor
		}
		n.bell.Sleep(transport.Asleep, d)
		n.mu.Lock()
		if n.timeline != nil {
			n.noteSleep(slept)
		}
		n.answer()
		n.learn(ops)
		n.sleepUntil = 0
		if n.reaper == nil && (n.progress() || n.paused) && n.pending(c) && n.budget > 0 {
			n.linger(ctx, c)
		}
		err = ctx.Err()
	}
	n.answer()
	n.sleeper = nil
	if n.sleepUntil = n.serveUntil; !n.closed && n.sleepUntil != 0 && n.late(n.now()) {
		n.alert() // the service fell asleep before us, and a ring wakes only one
	}
	if err == nil && n.pending(c) {
		return nil
	}
	n.parked--
	if !n.closed && c.pending() {
		err = n.giveUp(c, err)
	} else {
		err = nil
	}
	return err
}

// linger polls for what follows a packet that has woken the sleeper. The lock is
// held.
func (n *Node) linger(ctx context.Context, c *Call) {
	n.reaper = c
	n.reaped++
	n.bell.Set(transport.Awake)
	n.spin(ctx, c, patience)
	n.reaper = nil
}

// rings makes the end of ctx ring the doorbell. The last one is remembered:
// programs wait again and again with the same.
func (n *Node) rings(ctx context.Context) {
	if n.cancels == ctx {
		return
	}
	if n.forget != nil {
		n.forget()
		n.forget = nil
	}
	if n.cancels = ctx; ctx.Done() != nil {
		n.forget = interleave.AfterFunc(ctx, n.cancelled)
	}
}

func (n *Node) cancelled() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed && n.sleeper != nil {
		n.ring()
	}
}

// ring wakes whoever sleeps on the doorbell, or is about to. Until it has answered the
// doorbell is not armed by others: it might then fall asleep, not having heard. The lock
// is held.
func (n *Node) ring() {
	if !n.rung {
		n.rung = true
		n.rousing++
	}
	n.bell.Ring()
}

// answer is called by who has been rung, when it has taken the lock.
func (n *Node) answer() {
	if n.rung {
		n.rung = false
		n.rousing--
	}
}

// rest is called by who does not look for packets any more, or not yet: somebody must.
// Who polls, or has been woken and not come so far, rests later. Else the doorbell is
// armed for those who are parked, and so is that at which the service sleeps. A service
// that has left its work to whoever slept on the doorbell takes it up again. The lock is
// held.
func (n *Node) rest() {
	switch {
	case n.reaper != nil || n.rousing > 0 && !mutant.On(mutant.ArmedOverRing) || n.closed:
	case n.parked > 0:
		n.doze()
	case n.serving && n.bell.State() == transport.Awake:
		if n.arm(transport.Idle) {
			n.alert()
		}
	case n.watching && n.lookAt == monotime.Never && n.sleeper == nil && !mutant.On(mutant.DutyForgotten):
		n.alert()
	case n.watching && n.paused:
		n.alert()
	}
}

// doze makes peers ring for every packet, and receives what came before they
// knew. The lock is held.
func (n *Node) doze() {
	if n.reaper != nil || n.closed {
		return
	}
	if n.watching && n.sleeper == nil {
		n.alert() // the service must sleep on the doorbell
	}
	if n.bell.State() == transport.Asleep {
		return
	}
	n.bell.Set(transport.Asleep)
	for _, t := range n.trs {
		t.Arm()
	}
	n.progress()
	if n.eng.Blocked() {
		n.alert() // whoever is on duty must retry
	}
}

// adapt sets the budget by how long a wait was that parked.
func (n *Node) adapt(waited time.Duration) {
	if n.cfg.Wait.Budget == 0 {
		return
	}
	if waited < n.cfg.Wait.Budget {
		n.budget = min(max(2*n.budget, minBudget), n.cfg.Wait.Budget)
	} else {
		n.budget = max(n.budget-n.budget/8, minBudget)
	}
}
