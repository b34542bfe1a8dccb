package duty

import (
	"time"

	"weft/internal/monotime"
)

// Service is what the service does.
type Service uint8

// The states of the service.
const (
	Running Service = iota
	Watching
	Standby
	Dormant
	Ended
)

// Tick is how long the service takes to notice that no goroutine polls any more, and to arm the doorbell. Until then
// urgent packets wait. It grows to MaxTick while goroutines poll all the time.
const (
	Tick    = time.Millisecond
	MaxTick = 8 * time.Millisecond
)

// Service returns the state of the service.
func (r *Roster) Service() Service { return r.service }

// Alone reports whether the node's work is the service's.
func (r *Roster) Alone() bool { return r.poller == nil && r.sleeper == nil && !r.closed }

// watches reports whether a nudge reaches the service.
func (r *Roster) watches() bool { return r.service == Watching || r.service == Standby }

// dozes reports whether a waiter sleeps on the doorbell, or is about to.
func (r *Roster) dozes() bool { return r.sleeper != nil && r.sleeper.State == Sleeping }

// Next says that the service has done what there was to do, and decides what it does next. Telling says that it waits
// for packets itself. If it watches it does so for d, without a limit if d is below zero.
func (r *Roster) Next(telling bool) (a Action, d time.Duration) {
	if r.sleeper == nil {
		r.answer()
	}
	awaited := r.asleep > 0 || telling
	active := r.polls != r.seen
	switch {
	case r.closed:
		r.service = Ended
		return 0, 0
	case r.poller != nil || active && (!awaited || r.asleep > 0 && r.Streak()):
		// If the doorbell were armed, every sender would pay for a wake-up.
		a = r.silence()
		if awaited {
			r.pause = 0
		}
	case r.sleeper == nil:
		r.service = Dormant
		r.pause = 0
		r.streak = 0
		if awaited {
			return r.arm(Every), 0
		}
		return r.arm(Urgent), 0
	case !active:
		r.service = Standby
		return 0, -1
	}
	r.service = Watching
	r.seen = r.polls
	r.pause = min(max(2*r.pause, Tick), MaxTick)
	return a, r.pause
}

// Up says that the service has the lock again.
func (r *Roster) Up() (a Action) {
	if r.service == Dormant && r.dozes() && !r.closed {
		a = r.ring() // the ring that woke the service may have been meant for the sleeper
	}
	r.service = Running
	r.serviceAt = 0
	return a
}

// Hurry says that this rank has kept a lock that others may want, and may now compute for long. So the service must
// arm the doorbell without waiting for a tick. Once is enough until a goroutine polls again.
func (r *Roster) Hurry() Action {
	if r.freed == r.polls || !r.watches() {
		return 0
	}
	r.freed = r.polls
	r.seen = r.polls
	return r.Alert()
}

// Alert says that the goroutine on duty must look before its time.
func (r *Roster) Alert() (a Action) {
	if r.dozes() || !r.watches() {
		a = r.ring()
	}
	if r.watches() {
		a |= Nudge
		r.serviceAt = 0
	}
	return a
}

// Rest sees to it that a goroutine is on duty. Paused says that the node has more to send, which the goroutine on
// duty goes on with.
func (r *Roster) Rest(paused bool) (a Action) {
	switch {
	case r.poller != nil || r.waking > 0 || r.closed: // that goroutine rests the node later
	case r.asleep > 0:
		a = r.arm(Every)
		if r.sleeper == nil && r.watches() {
			a |= Nudge // the service must sleep on the doorbell
		}
	case r.service == Dormant:
		a = r.arm(Urgent)
	case r.service == Standby || r.service == Watching && paused:
		a = Nudge
	}
	return a
}

// Close says that the node is closed. Nothing polls or falls asleep from now on.
func (r *Roster) Close() Action {
	r.closed = true
	return r.ring() | Nudge
}

// Until says that the sleeper, or else the service, wakes by itself at a time.
func (r *Roster) Until(at monotime.Time) {
	if r.sleeper != nil {
		r.sleeperAt = at
	} else {
		r.serviceAt = at
	}
}

// Alarm returns when the goroutine on duty wakes by itself; 0 if it is awake, or has been woken.
func (r *Roster) Alarm() monotime.Time {
	switch {
	case r.bell == rung:
		return 0 // but a waiter that comes first may answer in place of the service
	case r.sleeper != nil:
		return r.sleeperAt
	default:
		return r.serviceAt
	}
}

// Late reports whether the goroutine on duty wakes too late for a time. If the service watches, its next look is soon
// enough: the timers of a link are started and stopped with every packet.
func (r *Roster) Late(at, now monotime.Time) bool {
	alarm := r.Alarm()
	return at < alarm && (r.sleeper != nil || !r.watches() || alarm > now.Add(Tick))
}

// ring wakes the goroutine that sleeps on the doorbell, or is about to. The doorbell stays silent until that
// goroutine has answered: if it were armed before, the goroutine could fall asleep without having noticed the ring.
func (r *Roster) ring() Action {
	if r.bell != rung {
		r.bell = rung
		r.waking++
	}
	return Ring
}

// answer says that the goroutine that was rung has the lock.
func (r *Roster) answer() {
	if r.bell == rung {
		r.bell = silent
		r.waking--
	}
}

// arm makes packets ring.
func (r *Roster) arm(a Action) Action {
	r.bell = armed
	return a
}

// silence makes packets ring no more.
func (r *Roster) silence() Action {
	if r.bell != armed {
		return 0
	}
	r.bell = silent
	return Silence
}
