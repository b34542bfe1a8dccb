//go:build mutants

package interleave

import (
	"context"
	"runtime"
	"sync"
	"time"

	"weft/internal/sys"
)

// Point lets others run, in a Scheduler.
func Point() {
	if the != nil {
		the.block(nil, never)
	}
}

// Block waits until ready, or for d if that is not below zero, in a Scheduler.
func Block(ready func() bool, d time.Duration) {
	until := never
	if d >= 0 {
		until = the.now + d
	}
	the.block(ready, until)
}

// Fail ends the Scheduler that runs.
func Fail(format string, args ...any) {
	the.fail(format, args...)
	Point()
}

// A Mutex is a lock.
type Mutex struct {
	real sync.Mutex
	held bool
}

// Lock takes the lock.
func (m *Mutex) Lock() {
	if the == nil {
		m.real.Lock()
		return
	}
	the.block(func() bool { return !m.held }, never)
	m.held = true
}

// TryLock takes the lock if it is free.
func (m *Mutex) TryLock() bool {
	if the == nil {
		return m.real.TryLock()
	}
	Point()
	if m.held {
		return false
	}
	m.held = true
	return true
}

// Unlock gives the lock back.
func (m *Mutex) Unlock() {
	if the == nil {
		m.real.Unlock()
		return
	}
	m.held = false
}

// Go runs f in a goroutine of its own.
func Go(f func()) {
	if the == nil {
		go f()
		return
	}
	the.start(f)
}

// Gosched lets other goroutines run.
func Gosched() {
	if the == nil {
		runtime.Gosched()
		return
	}
	giveWay()
}

// Cede is Gosched if there is a goroutine that could run.
func Cede() {
	if the != nil || sys.Runnable() {
		Gosched()
	}
}

func giveWay() {
	t := the.last
	t.gives = true
	the.block(nil, never)
	t.gives = false
}

// Yield lets other processes run.
func Yield() {
	if the == nil {
		sys.Yield()
		return
	}
	giveWay()
}

// Runnable reports whether goroutines of this process could run and do not.
func Runnable() bool { return the == nil && sys.Runnable() }

// Since returns the time since start. In a Scheduler each look at the clock takes some.
func Since(start time.Time) time.Duration {
	if the == nil {
		return time.Since(start)
	}
	the.now += time.Microsecond
	return the.now
}

// Brief returns how often something is looked at: n times, and few in a Scheduler.
func Brief(n int) int {
	if the == nil {
		return n
	}
	return 1
}

func take(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Wait waits for a token in wake, and reports that; or until done is closed.
func Wait(wake, done <-chan struct{}) (woken bool) {
	if the == nil {
		select {
		case <-wake:
			return true
		case <-done:
			return false
		}
	}
	the.block(func() bool { return len(wake) > 0 || isDone(done) }, never)
	return take(wake)
}

// Closed waits until c is closed.
func Closed(c <-chan struct{}) {
	if the == nil {
		<-c
		return
	}
	the.block(func() bool { return isDone(c) }, never)
}

// AfterFunc is that of package context.
func AfterFunc(ctx context.Context, f func()) (stop func() bool) {
	if the == nil {
		return context.AfterFunc(ctx, f)
	}
	state := 0 // 1: it has run, 2: stopped
	t := the.start(func() {
		the.block(func() bool { return state == 2 || ctx.Err() != nil }, never)
		if state == 0 {
			state = 1
			f()
		}
	})
	t.daemon = true
	return func() bool {
		if state == 0 {
			state = 2
			return true
		}
		return false
	}
}

// A Timer is one of package time, for one goroutine.
type Timer struct {
	t  *time.Timer
	at time.Duration
}

// NewTimer returns a timer that does not run.
func NewTimer() *Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Timer{t, never}
}

// Reset makes the timer end after d.
func (t *Timer) Reset(d time.Duration) {
	if the == nil {
		t.t.Reset(d)
		return
	}
	t.at = the.now + d
}

// Stop stops it.
func (t *Timer) Stop() {
	t.t.Stop()
	t.at = never
}

// Wait waits for a token in nudge, and reports that; or for the timer.
func (t *Timer) Wait(nudge <-chan struct{}) (nudged bool) {
	if the == nil {
		select {
		case <-nudge:
			return true
		case <-t.t.C:
			return false
		}
	}
	the.block(func() bool { return len(nudge) > 0 }, t.at)
	if take(nudge) {
		return true
	}
	t.at = never
	return false
}
