package duty

import (
	"time"

	"weft/internal/monotime"
)

// State is what a goroutine that waits does.
type State uint8

// The states of a waiter.
const (
	Away State = iota
	Polling
	Sleeping
	Lingering
	Parked
	Woken
)

// A Waiter is a goroutine that waits. Its zero value is Away. Only events change its State.
type Waiter struct {
	State    State
	MakesWay bool // it does not poll if another waiter wants to that does not make way
}

// Polls reports whether the goroutine polls.
func (w *Waiter) Polls() bool { return w.State == Polling || w.State == Lingering }

// An Action is what the driver must do after an event: a set of these.
type Action uint8

// The actions.
const (
	Ring    Action = 1 << iota // ring the doorbell
	Nudge                      // end the service's watch
	Signal                     // wake the waiter from its channel
	Silence                    // no packet need ring the doorbell
	Urgent                     // urgent packets must ring it
	Every                      // every packet must ring it
)

// bell is the state of the doorbell as the node has left it.
type bell uint8

const (
	silent bell = iota
	armed
	rung
)

// A Roster says which goroutine of a node is on duty. Its zero value is that of a node at which no goroutine waits,
// and whose service runs.
type Roster struct {
	NoPolling  bool // waiters do not poll: packets interrupt
	NoSleeping bool // waiters sleep on channels only
	Enough     int  // waits that make a streak

	poller  *Waiter // that is Polling or Lingering
	sleeper *Waiter // that is Sleeping or Lingering
	asleep  int     // waiters that are Sleeping, Lingering or Parked, and parties that Expect packets
	waking  int     // waiters that are Woken; and one more if the doorbell is rung
	bell    bell
	closed  bool

	service Service
	polls   uint64        // how often a waiter has begun to poll
	seen    uint64        // polls, at the last Next
	freed   uint64        // polls, at the last Hurry
	pause   time.Duration // for which the service has watched

	sleeperAt monotime.Time // when the sleeper wakes by itself; 0 while it is awake
	serviceAt monotime.Time // when the service does

	streak  int
	stopped monotime.Time // when a waiter last ended its wait while it polled
	glanced bool          // a goroutine has glanced since, in the streak
}

// lull is how soon a waiter of a streak polls again. It is about what the wake-up of a thread takes: a packet for a
// parked waiter that comes in a lull waits no longer than it would for that.
const lull = 100 * time.Microsecond

// Poller returns the waiter that polls, or nil.
func (r *Roster) Poller() *Waiter { return r.poller }

// Sleeper returns the waiter that sleeps on the doorbell, or nil.
func (r *Roster) Sleeper() *Waiter { return r.sleeper }

// Asleep returns for how many parties packets must ring.
func (r *Roster) Asleep() int { return r.asleep }

// Waking returns how many goroutines have been woken and have not taken the lock yet.
func (r *Roster) Waking() int { return r.waking }

// CountsStreak reports whether Begin and Left need the time.
func (r *Roster) CountsStreak() bool { return r.asleep > 0 }

// Begin says that a waiter begins to wait, or asks once more, and may poll if its state says so.
func (r *Roster) Begin(w *Waiter, now monotime.Time) Action {
	if r.NoPolling || r.closed {
		return 0
	}
	if p := r.poller; p != nil {
		if !p.MakesWay || w.MakesWay {
			return 0
		}
		r.Spent(p)
	}
	w.State = Polling
	if r.CountsStreak() && r.sleeper == nil {
		if now.Sub(r.stopped) > lull && !r.glanced {
			r.streak = 0
		} else {
			r.streak++
		}
		r.glanced = false
	}
	return r.poll(w)
}

// Glance says that a goroutine looks for a packet while it has the lock, and will not give the lock back before it
// has one or begins to wait. It reports whether it may do so in place of a Begin and a Left: no other goroutine polls
// or has been woken, and none sleeps, or the service watches in a streak. So neither event would change the doorbell,
// or which goroutine is on duty.
func (r *Roster) Glance() bool {
	if r.poller != nil || r.waking > 0 || r.NoPolling || r.closed {
		return false
	}
	if r.asleep > 0 {
		if !r.Streak() || r.service != Watching || r.bell != silent {
			return false
		}
		r.glanced = true
	}
	r.polls++
	return true
}

// poll makes a waiter the one that polls. No goroutine need be woken for what it sees.
func (r *Roster) poll(w *Waiter) Action {
	r.poller = w
	r.polls++
	if r.asleep == 0 {
		return 0
	}
	return r.silence()
}

// Spent says that a waiter stops polling, if it still polled. Park, Left or Doze must follow.
func (r *Roster) Spent(w *Waiter) {
	switch w.State {
	case Polling:
		w.State = Away
	case Lingering:
		w.State = Sleeping
	default:
		return
	}
	r.poller = nil
}

// Left says that a wait has ended while its goroutine polled.
func (r *Roster) Left(now monotime.Time, paused bool) (a Action) {
	if r.CountsStreak() {
		r.stopped = now
		if r.Streak() && !r.closed {
			if r.service == Watching {
				return 0
			}
			a = r.Alert() // the service must watch
		}
	}
	return a | r.Rest(paused)
}

// Streak reports whether there is a streak.
func (r *Roster) Streak() bool { return r.streak >= r.Enough && r.sleeper == nil }

// Park says that a waiter that does not poll must sleep, on the doorbell or on its channel as its state says. In a
// closed node it stays Away.
func (r *Roster) Park(w *Waiter) Action {
	if r.closed {
		return 0
	}
	r.asleep++
	r.streak = 0
	if r.sleeper == nil && r.poller == nil && !r.NoSleeping {
		w.State = Sleeping
		r.sleeper = w
		return 0
	}
	w.State = Parked
	return r.Rest(false)
}

// Doze says that the sleeper is about to sleep on the doorbell. If another waiter polls it must sleep on its channel
// instead.
func (r *Roster) Doze(w *Waiter) Action {
	r.answer()
	if r.poller == nil {
		return r.arm(Every)
	}
	w.State = Parked
	r.sleeper = nil
	return r.Alert()
}

// Woke says that the sleeper has slept, and has the lock again.
func (r *Roster) Woke() {
	r.answer()
	r.sleeperAt = 0
}

// Linger says that the sleeper polls for what follows a packet. No other waiter polls.
func (r *Roster) Linger(w *Waiter) Action {
	w.State = Lingering
	return r.poll(w)
}

// Rise says that the sleeper does not wait any more. Rest must follow.
func (r *Roster) Rise(w *Waiter) {
	r.answer()
	w.State = Away
	r.sleeper = nil
	r.asleep--
}

// Ended says that the call of a waiter has ended, or the node is closed.
func (r *Roster) Ended(w *Waiter) Action {
	switch w.State {
	case Sleeping:
		return r.ring()
	case Parked:
		w.State = Woken
		r.asleep--
		r.waking++
		return Signal
	default:
		return 0
	}
}

// Cancelled says that a context has ended that may be the sleeper's.
func (r *Roster) Cancelled() Action {
	if r.closed || !r.dozes() {
		return 0
	}
	return r.ring()
}

// Back says that a waiter has slept on its channel, and has the lock again. It does not wait any more. Rest must
// follow.
func (r *Roster) Back(w *Waiter) {
	switch w.State {
	case Parked:
		r.asleep--
	case Woken:
		r.waking--
	default:
		return
	}
	w.State = Away
}

// Expect says that a party that is no waiter wants to hear of every packet, until Forgo.
func (r *Roster) Expect() { r.asleep++ }

// Forgo ends Expect.
func (r *Roster) Forgo() { r.asleep-- }
