package driver

import (
	"context"
	"time"

	"weft/internal/monotime"
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

// waiting holds the state of goroutines blocked in calls. At most one of them polls (the
// reaper), and at most one sleeps on the doorbell (the sleeper). A goroutine is on duty if it
// will look for packets and timers next: that is the reaper; if there is none, the sleeper;
// if there is none either, the service.
//
// The goroutine of a call that has not ended is in one of three states:
//
//	state     is shown by    meanwhile the goroutine
//	polling   reaper == c    polls the transports and runs the engine
//	sleeping  sleeper == c   sleeps on the doorbell: a packet wakes the thread that needs it
//	parked    c.parked       sleeps on the channel c.wake: another goroutine runs the engine
//
//	from      event                                                to
//	(begins)  no goroutine polls                                   polling
//	(begins)  another one polls, or Waiting.Interrupt is set       parked
//	polling   the budget is spent, and there is no sleeper         sleeping
//	polling   the budget is spent, and there is a sleeper          parked
//	sleeping  a packet came, and not the one that ends the call    polling for patience, then sleeping
//	sleeping  another goroutine begins to poll                     parked
//	any       the call or its context ends, or the node closes     (returns)
//
// A goroutine that stops polling, or comes back from sleep, calls rest, so that another one
// is on duty. A goroutine that was woken counts in waking until it has taken the lock: until
// then rest leaves the doorbell alone.
type waiting struct {
	reaper  *Call   // whose goroutine polls, or nil
	reaps   uint64  // how often a goroutine has begun to poll
	sleeper *Call   // whose goroutine sleeps on the doorbell, or nil
	calls   []*Call // whose goroutines have not ended within their polling
	parked  int     // goroutines that sleep, the sleeper among them, and notices
	waking  int     // goroutines that have been woken and have not taken the lock yet
	rung    bool    // the goroutine that sleeps on the doorbell is among them
	streak  int     // goroutines in a row that began to poll soon after another had stopped; see streak.go

	stopped monotime.Time // when a goroutine stopped polling last, while others are parked; over a network only

	wakeAt   monotime.Time // when the goroutine on duty wakes by itself; 0 while it is awake
	retrying bool          // and offers packets again that found no room

	budget   time.Duration // for which a goroutine polls now before it parks
	lookTime time.Duration // that a look for packets takes, in 1/lookScale ns; see looked

	ctx     context.Context // whose end rings the doorbell
	stopCtx func() bool     // ends that; nil if there is nothing to end
}

// tick is how long the service takes to notice that no goroutine polls any more, and
// to arm the doorbell. Until then urgent packets wait. It grows to maxTick
// while goroutines poll all the time.
const (
	tick    = time.Millisecond
	maxTick = 8 * time.Millisecond
)

// retry is how soon packets that found no room are offered again when no goroutine
// polls.
const retry = 100 * time.Microsecond

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
