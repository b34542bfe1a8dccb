// Package waittest waits for what nothing tells a test of. It is the one place where tests look at the clock: for when
// to look again, and for the end of a hang.
package waittest

import (
	"runtime"
	"testing"
	"time"
)

// Patience ends a hang. It is far more than any wait takes, also on a loaded machine, so it decides no test: where 60
// processes want each processor, tests have taken four minutes that take seconds. Go ends a test after ten, without a
// word about what it waits for.
const Patience = 8 * time.Minute

// Until waits until cond holds, which what describes.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !Poll(cond) {
		t.Fatalf("in %v not seen: %s", Patience, what)
	}
}

// Poll waits until cond holds, and reports whether it came to hold: for a rank's process, which has no test. It looks
// without a pause for a moment, and then once a millisecond. A look that takes long, such as one at all processes, is
// followed by a longer pause: the waiting test leaves the processor to those for which it waits.
func Poll(cond func() bool) bool {
	const (
		busy    = 2 * time.Millisecond
		longest = 50 * time.Millisecond
	)
	begun := time.Now()
	for {
		look := time.Now()
		if cond() {
			return true
		}
		now := time.Now()
		switch waited := now.Sub(begun); {
		case waited > Patience:
			return false
		case waited > busy:
			time.Sleep(min(max(time.Millisecond, 9*now.Sub(look)), longest))
		default:
			runtime.Gosched()
		}
	}
}

// End returns the time that ends a hang, as the deadline of a connection.
func End() time.Time { return time.Now().Add(Patience) }

// Soon returns a deadline that passes while a call waits for what does not come. The call must end by it, whenever.
func Soon() time.Time { return time.Now().Add(5 * time.Millisecond) }
