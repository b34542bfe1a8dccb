package stream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline: a deadline passes at its moment, also if that is now, and one that was changed does not.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kicks atomic.Int32
		d := &deadline{kick: func() { kicks.Add(1) }}
		want := func(what string, passed bool, n int32) {
			t.Helper()
			synctest.Wait()
			if d.passed.Load() != passed || kicks.Load() != n {
				t.Errorf("%s: passed %v, and %d calls were woken", what, d.passed.Load(), kicks.Load())
			}
		}
		d.set(time.Now())
		want("now", true, 1)
		d.set(time.Now().Add(2 * time.Second))
		want("later", false, 1)
		time.Sleep(time.Second)
		want("a second before", false, 1)
		d.set(time.Now().Add(2 * time.Second))
		time.Sleep(time.Second)
		want("it was changed", false, 1)
		d.ring(time.Now())
		want("a timer that was stopped too late", false, 1)
		time.Sleep(time.Second)
		want("at last", true, 2)
		d.set(time.Time{})
		want("none", false, 2)
		d.set(time.Now().Add(time.Second))
		d.stop()
		time.Sleep(2 * time.Second)
		want("it was stopped", false, 2)
	})
}
