// Package waittest waits for what nothing tells a test of. It is the one place where tests look at the clock: for when
// to look again, and for the end of a hang.
package waittest

import (
	"runtime"
	"testing"
	"time"
)

// Patience ends a hang. It is far more than any wait takes, also on a loaded machine, so it decides no test.
const Patience = 3 * time.Minute

// Until waits until cond holds, which what describes.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !Poll(cond) {
		t.Fatalf("in %v not seen: %s", Patience, what)
	}
}

// Poll waits until cond holds, and reports whether it came to hold: for a rank's process, which has no test. It looks
// without a pause for a moment, and then once a millisecond.
func Poll(cond func() bool) bool {
	const busy = 2 * time.Millisecond
	for begun := time.Now(); !cond(); {
		switch waited := time.Since(begun); {
		case waited > Patience:
			return false
		case waited > busy:
			time.Sleep(time.Millisecond)
		default:
			runtime.Gosched()
		}
	}
	return true
}

// End returns the time that ends a hang, as the deadline of a connection.
func End() time.Time { return time.Now().Add(Patience) }

// Soon returns a deadline that passes while a call waits for what does not come. The call must end by it, whenever.
func Soon() time.Time { return time.Now().Add(5 * time.Millisecond) }
