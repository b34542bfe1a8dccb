package duty

import "weft/internal/monotime"

// waiters is how many goroutines wait in a world. The first makes way for the others.
const waiters = 3

// A place is where a goroutine of the driver is while it does not have the lock.
type place uint8

const (
	outside place = iota // it does not wait; or it is the service, and has ended
	running              // it polls, or is the service: it takes the lock when it likes
	falling              // it is about to sleep on the doorbell
	asleep               // it sleeps there
	rising               // it comes from there
	parked               // it sleeps on its channel; or it is the service, and watches
)

// A world is a node as far as a Roster matters: a driver reduced to the order of its events. Its peers, its
// contexts and its timer do anything at any time.
type world struct {
	r Roster
	w [waiters]Waiter

	at     [waiters]place
	packet [waiters]bool // a packet is there that ends the call
	ended  [waiters]bool // the call has ended
	over   [waiters]bool // its context has
	token  [waiters]bool // its channel has a token
	alarm  [waiters]bool // it wakes in time for the timer
	cancel bool          // a context that has ended is about to ring

	service place
	nudged  bool
	limit   bool // it wakes by itself, soon enough for the timer
	expects bool // a notice is set

	bell   Action // which packets ring: Every, Urgent, or none
	state  Action // of the doorbell, on which the service sleeps
	one    bool   // a ring wakes one goroutine, and not all that sleep
	rings  int    // which have not woken one yet
	urgent bool   // a packet is there that needs this process's help
	timer  bool   // a timer runs
	closed bool

	wrong string
}

// own are the waiters to which a world's Roster points while it lies in the list of those that have been seen.
var own [waiters]Waiter

// rebase returns which of the waiters in new takes the place of one in old.
func rebase(w *Waiter, old, new *[waiters]Waiter) *Waiter {
	for i := range old {
		if w == &old[i] {
			return &new[i]
		}
	}
	return nil
}

// key returns a world without what makes no difference to what may happen in it.
func (w world) key() world {
	k := w
	k.r.polls = 2
	k.r.seen = 1
	if w.r.seen == w.r.polls {
		k.r.seen = 2
	}
	k.r.freed = 1
	if w.r.freed == w.r.polls {
		k.r.freed = 2
	}
	k.r.streak = min(w.r.streak, w.r.Enough)
	if w.r.sleeper == nil {
		k.r.sleeperAt = 0
	}
	if w.service != falling && w.service != asleep {
		k.state = 0
	}
	k.r.pause = min(w.r.pause, Tick)
	return k
}

// do carries out an action, as the driver does.
func (w *world) do(a Action) {
	if a&^(Signal|Nudge) != 0 && w.closed && w.service == outside && w.r.Sleeper() == nil {
		w.wrong = "the doorbell is used, when that memory is gone"
	}
	if a&Ring != 0 {
		w.ring()
	}
	if a&Nudge != 0 {
		w.nudged = true
	}
	switch {
	case a&Silence != 0:
		w.bell = 0
	case a&Every != 0 && w.bell != Every:
		w.bell = Every
		w.receive()
	case a&Urgent != 0 && w.bell == 0:
		w.bell = Urgent
		if w.arrived() {
			w.do(w.r.Alert())
		}
	}
}

// ring rings the doorbell.
func (w *world) ring() {
	w.bell = 0
	if w.one {
		w.rings = min(w.rings+1, w.sleepers())
		return
	}
	for i, at := range w.at {
		if at == asleep {
			w.at[i] = rising
		}
	}
	if w.service == asleep {
		w.service = rising
	}
}

// sleepers returns how many goroutines sleep on the doorbell.
func (w *world) sleepers() (n int) {
	for _, at := range append(w.at[:waiters:waiters], w.service) {
		if at == asleep {
			n++
		}
	}
	return n
}

// arrives is what a peer does that has sent a packet.
func (w *world) arrives(urgent bool) {
	if w.bell == Every || w.bell == Urgent && urgent {
		w.ring()
	}
}

// arrived reports whether packets are there.
func (w *world) arrived() bool {
	return w.urgent || w.packet != [waiters]bool{}
}

// receive receives them, and reports whether there were any.
func (w *world) receive() (any bool) {
	if w.closed {
		return false
	}
	any = w.arrived()
	w.urgent = false
	for i := range w.packet {
		if w.packet[i] {
			w.packet[i] = false
			w.end(i)
		}
	}
	return any
}

// end ends a call.
func (w *world) end(i int) {
	w.ended[i] = true
	if a := w.r.Ended(&w.w[i]); a == Signal {
		w.token[i] = true
	} else {
		w.do(a)
	}
}

// pending reports whether a waiter must wait on.
func (w *world) pending(i int) bool { return !w.ended[i] && !w.closed }

// deadline is when the timer is due: soon. The time of a world is 0.
func (w *world) deadline() monotime.Time {
	if w.timer {
		return 1
	}
	return monotime.Never
}

// remind is Node.remind.
func (w *world) remind() {
	if !w.closed && w.r.Alarm() != 0 && w.r.Late(w.deadline(), 0) {
		w.do(w.r.Alert())
	}
}

// leave ends a wait.
func (w *world) leave(i int, a Action) {
	w.do(a)
	w.at[i] = outside
	w.packet[i] = false
	w.ended[i] = false
	w.over[i] = false
	w.token[i] = false
	w.alarm[i] = false
}

// polled goes on after a waiter has stopped polling before it ever slept.
func (w *world) polled(i int) {
	w.r.Spent(&w.w[i])
	if !w.pending(i) || w.over[i] {
		w.leave(i, w.r.Left(0, false))
		return
	}
	w.park(i)
}

// park is Node.park.
func (w *world) park(i int) {
	w.do(w.r.Park(&w.w[i]))
	switch w.w[i].State {
	case Sleeping:
		w.sleep(i)
	case Parked:
		w.at[i] = parked
	default:
		w.back(i)
	}
}

// back ends the wait of a goroutine that has slept on its channel.
func (w *world) back(i int) {
	w.r.Back(&w.w[i])
	w.leave(i, w.r.Rest(false))
}

// sleep is the loop of Node.sleep.
func (w *world) sleep(i int) {
	if w.pending(i) && !w.over[i] {
		w.do(w.r.Doze(&w.w[i]))
		switch {
		case w.w[i].State == Parked:
			w.at[i] = parked
			return
		case w.pending(i):
			w.r.Until(w.deadline())
			w.alarm[i] = w.timer
			w.at[i] = falling
			return
		}
	}
	w.r.Rise(&w.w[i])
	w.remind()
	w.leave(i, w.r.Rest(false))
}

// serve is what the service does until it gives the lock up.
func (w *world) serve() {
	if w.r.Alone() {
		w.receive()
	}
	a, d := w.r.Next(false)
	switch w.r.Service() {
	case Ended:
		w.service = outside
	case Dormant:
		if w.bell != a {
			w.bell = a
			if w.arrived() {
				w.do(w.r.Up())
				w.service = running
				return
			}
		}
		w.r.Until(w.deadline())
		w.state = a
		w.limit = w.timer
		w.service = falling
	default:
		w.do(a)
		if w.r.Sleeper() == nil {
			w.r.Until(w.deadline().Min(monotime.Time(0).Add(d)))
		}
		w.limit = d >= 0
		w.service = parked
	}
}

// woken is what the service does when it has the lock again.
func (w *world) woken() {
	w.limit = false
	w.nudged = false
	w.do(w.r.Up())
	w.serve()
}
