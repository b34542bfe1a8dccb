//go:build !mutants

package interleave

import (
	"context"
	"runtime"
	"sync"
	"time"

	"weft/internal/sys"
)

// A Mutex is a lock.
type Mutex = sync.Mutex

// Go runs f in a goroutine of its own.
func Go(f func()) { go f() }

// Gosched lets other goroutines run.
func Gosched() { runtime.Gosched() }

// Cede is Gosched if there is a goroutine that could run. If there is none Gosched wakes a thread to look for one,
// which takes up to 8 us; to ask takes 0.1 us.
func Cede() {
	if sys.Runnable() {
		runtime.Gosched()
	}
}

// Yield lets other processes run.
func Yield() { sys.Yield() }

// Runnable reports whether goroutines of this process could run and do not.
func Runnable() bool { return sys.Runnable() }

// Since returns the time since start.
func Since(start time.Time) time.Duration { return time.Since(start) }

// Brief returns how often something is looked at: n times, and few in a Scheduler.
func Brief(n int) int { return n }

// Wait waits for a token in wake, and reports that; or until done is closed.
func Wait(wake, done <-chan struct{}) (woken bool) {
	select {
	case <-wake:
		return true
	case <-done:
		return false
	}
}

// Closed waits until c is closed.
func Closed(c <-chan struct{}) { <-c }

// AfterFunc is that of package context.
func AfterFunc(ctx context.Context, f func()) (stop func() bool) { return context.AfterFunc(ctx, f) }

// A Timer is one of package time, for one goroutine.
type Timer struct{ t *time.Timer }

// NewTimer returns a timer that does not run.
func NewTimer() *Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Timer{t}
}

// Reset makes the timer end after d.
func (t *Timer) Reset(d time.Duration) { t.t.Reset(d) }

// Stop stops it.
func (t *Timer) Stop() { t.t.Stop() }

// Wait waits for a token in nudge, and reports that; or for the timer.
func (t *Timer) Wait(nudge <-chan struct{}) (nudged bool) {
	select {
	case <-nudge:
		return true
	case <-t.t.C:
		return false
	}
}
