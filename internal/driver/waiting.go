package driver

import (
	"context"
	"time"

	"weft/internal/driver/duty"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// Waiting says how the goroutines of a node wait.
type Waiting struct {
	// Budget is the longest time that a goroutine polls before it parks. 0:
	// park at once.
	Budget time.Duration

	// Yields is how often a goroutine gives its processor to another process
	// before it parks. It takes the place of polling where the job has more
	// ranks on this host than processors: there a goroutine that polls takes
	// its time slice from the very ranks that it waits for.
	Yields int

	// Interrupt switches reaping off, to compare with (PM/Ethernet measures both): a
	// goroutine that waits polls its own call and not the transports. Meanwhile the
	// service sleeps on the doorbell, and brings the packets as an interrupt would.
	Interrupt bool

	// InProcess: peers are goroutines of this process, so a goroutine that polls must
	// let them run.
	InProcess bool
}

// Waiting returns how the goroutines of the node wait.
func (n *Node) Waiting() Waiting { return n.cfg.Wait }

// waiting holds the state of goroutines blocked in calls, besides which of them is on duty (package duty).
type waiting struct {
	calls    []*Call // whose goroutines have not ended within their polling
	retrying bool    // the goroutine on duty wakes to offer packets again that found no room

	budget   time.Duration // for which a goroutine polls now before it parks
	lookTime time.Duration // that a look for packets takes, in 1/lookScale ns; see looked

	ctx     context.Context // whose end rings the doorbell
	stopCtx func() bool     // ends that; nil if there is nothing to end
}

// carry carries out what an event of n.duty asks for. The lock is held.
func (n *Node) carry(a duty.Action) {
	if a != 0 {
		n.carryOut(a)
	}
}

// carryOut is carry for an action that is not nothing. Signal is for the caller. The lock is held.
func (n *Node) carryOut(a duty.Action) {
	if a&duty.Ring != 0 {
		n.bell.Ring()
	}
	if a&duty.Nudge != 0 {
		post(n.service.nudge)
	}
	switch {
	case a&duty.Silence != 0:
		n.bell.Set(transport.Awake)
	case a&duty.Every != 0 && n.arm(transport.Asleep):
		n.progress() // packets that came before peers knew
		if n.eng.Blocked() {
			n.alert() // the goroutine on duty must retry
		}
	case a&duty.Urgent != 0 && n.bell.State() == transport.Awake && n.arm(transport.Idle):
		if n.arrived() {
			n.alert()
		}
	}
}

// arm publishes the doorbell's state, unless it is so already. The lock is held.
func (n *Node) arm(state transport.State) bool {
	if n.bell.State() == state {
		return false
	}
	n.bell.Set(state)
	for _, t := range n.transports.all {
		t.Arm()
	}
	return true
}

// arrived reports whether packets are there, as far as that takes no system call. The lock is held.
func (n *Node) arrived() bool {
	for _, t := range n.transports.all {
		if t.Caps().Reliable && t.Pending() {
			return true
		}
	}
	return false
}

// alert makes the goroutine on duty look before its time. The lock is held.
func (n *Node) alert() { n.carry(n.duty.Alert()) }

// rest sees to it that a goroutine is on duty, after one has come back from sleep. The lock is held.
func (n *Node) rest() { n.carry(n.duty.Rest(n.sending.paused)) }

// restAfterPolling is rest for a goroutine whose wait has ended while it polled. The lock is held.
func (n *Node) restAfterPolling() { n.carry(n.duty.Left(n.streakTime(), n.sending.paused)) }

// streakTime reads the clock if n.duty counts a streak.
func (n *Node) streakTime() monotime.Time {
	if n.duty.CountsStreak() {
		return n.now()
	}
	return 0
}

// retry is how soon packets that found no room are offered again when no goroutine
// polls.
const retry = 100 * time.Microsecond

// enough is how many waits make a streak.
const enough = 8

// The polling budget doubles when a wait that parked turns out to have been
// short, and shrinks by an eighth when it was long: a wait that is long now
// and then must not spoil the others.
const minBudget = time.Microsecond

// adapt sets the budget by how long a wait was that parked.
func (w *waiting) adapt(waited, most time.Duration) {
	if most == 0 {
		return
	}
	if waited < most {
		w.budget = min(max(2*w.budget, minBudget), most)
	} else {
		w.budget = max(w.budget-w.budget/8, minBudget)
	}
}

// A look that finds nothing takes lookTime ns of 1/lookScale, as long waits have shown: a
// wait that is soon over does not read the clock.
const (
	lookScale    = 16
	firstLook    = 50 * lookScale
	undistracted = 20 * time.Microsecond // that a round of looks takes at most, if nothing else ran
)

// looked returns how long so many looks have taken.
func (w *waiting) looked(looks int) time.Duration {
	return time.Duration(looks) * w.lookTime / lookScale
}

// gauge learns from a round of looks how long one takes.
func (w *waiting) gauge(took time.Duration, looks int) {
	if took < undistracted && looks > 0 {
		w.lookTime += (took*lookScale/time.Duration(looks) - w.lookTime) / 8
	}
}
