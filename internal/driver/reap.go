package driver

import (
	"context"
	"time"

	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/sys"
)

// reap polls until the call has ended or the budget is spent: the goroutine that waits runs
// the protocol itself, and no other one is woken (interrupt reaping, as PM/Ethernet has it).
// A call of restAfterPolling or park must follow. The lock is held, and given up meanwhile.
func (n *Node) reap(ctx context.Context, c *Call) error {
	begun := n.company.begun
	n.attend(true)
	if n.company.waits.Load() > 0 {
		n.mu.Unlock()
		n.cede() // the goroutine that was just handed something
		n.mu.Lock()
	}
	n.reapYielding(c)
	if n.pending(c) && n.waiting.budget > 0 {
		n.spin(ctx, c, n.waiting.budget+c.copying())
	}
	n.attend(false)
	n.duty.Spent(&c.duty)
	n.learn(begun)
	if n.pending(c) {
		if err := ctx.Err(); err != nil {
			return n.giveUp(c, err)
		}
	}
	return nil
}

// attend shows peers whether a goroutine polls. The lock is held.
func (n *Node) attend(polls bool) {
	if n.life.closed {
		return // and the memory that would show it is gone
	}
	for _, m := range n.transports.memory {
		m.Attend(polls)
	}
}

// reapYielding polls, and lets others run after each look, as often as Waiting.Yields says.
// The lock is held, and given up meanwhile.
func (n *Node) reapYielding(c *Call) {
	var second monotime.Time // after two yields: a wait that ends before does not read the clock
	yields := 0
	for left := n.cfg.Wait.Yields; left > 0; left-- {
		if !c.duty.Polls() {
			break // it has made way
		}
		if n.progress(); !n.pending(c) {
			break
		}
		crowded := n.crowded()
		n.mu.Unlock()
		if crowded || n.cfg.Wait.InProcess {
			n.cede()
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
}

// glances is how often a reaper looks for packets before it lets go of the
// lock: an answer that is on its way comes within that time, and taking the
// lock again would cost as much as a tenth of a message. Where looking takes a
// system call it lets go more often.
const (
	glances     = 64
	glancesCall = 8

	// To look at a word of memory takes less, and sys.Relax pauses at every fourth look.
	memoryGlances     = 4 * glances
	memoryGlancesCall = 4 * glancesCall
)

// patience is how long a reaper polls after the last packet, whatever its budget:
// while packets come, to sleep and be woken for each would cost more than they do.
const patience = 50 * time.Microsecond

// courtesy is how long a reaper polls before it gives its processor to others
// that wait for it, perhaps the very peer that it polls for. It is longer than
// most answers take: an answer that comes meanwhile is late.
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
	for !n.life.closed {
		sent := n.sending.packets
		came, made, ended := n.lookRound(c)
		looks += made
		if ended {
			c.polled += n.waiting.looked(looks)
			return
		}
		came = came || n.sending.packets != sent // packets that had found no room: more may
		crowded := n.crowded()
		paused := n.sending.paused
		guess := n.waiting.looked(looks)
		n.mu.Unlock()
		now := n.now()
		if end == 0 {
			end = now.Add(budget)
			yield = now.Add(courtesy)
			c.polled += guess
		} else {
			c.polled += now.Sub(before)
		}
		if came {
			end = max(end, now.Add(patience))
		}
		over := now > end || ctx.Err() != nil
		if n.share(now, yield, crowded, paused) {
			yield = now.Add(courtesy)
		}
		n.mu.Lock()
		if !c.duty.Polls() {
			return // it has made way
		}
		if before != 0 && !came {
			n.waiting.gauge(now.Sub(before), looks)
		}
		before = now
		looks = 0
		if now >= n.stats.updateAt {
			n.update(now)
		}
		if over || !n.pending(c) {
			return
		}
	}
}

// lookRound looks for packets some times, without letting go of the lock. It reports whether
// packets came, how many looks it has made, and whether the call has ended, which ends the
// round. The lock is held.
func (n *Node) lookRound(c *Call) (came bool, looks int, ended bool) {
	round := interleave.Brief(glances)
	if n.transports.network {
		round = interleave.Brief(glancesCall)
	}
	if n.crowded() {
		round = min(round, glancesCall)
	}
	timed := n.transports.lossy || n.eng.Timed()
	for range round {
		looks++
		now, some := n.receive(n.clock())
		if some || timed || n.eng.Blocked() {
			n.react(now)
			if !c.pending() {
				return came, looks, true
			}
		}
		came = came || some
		if n.pressed() {
			break
		}
		sys.Pause() // the peer may run on the other half of this core
	}
	return came, looks, false
}

// share gives the processor to others between two rounds of looks, if there is reason to. It
// reports whether it has done so for longer than a glance, so that the next time is a
// courtesy away. The lock is not held.
func (n *Node) share(now, yield monotime.Time, crowded, paused bool) bool {
	switch {
	case paused: // this goroutine has not polled, but sent
		n.cede()
	case crowded && now > yield.Add(hurry-courtesy):
		interleave.Yield()
		n.cede()
	case crowded:
		n.cede()
		return false
	case now > yield:
		n.giveWay()
	default:
		return false
	}
	return true
}
