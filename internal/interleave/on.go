//go:build mutants

package interleave

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"weft/internal/sys"
)

// A Scheduler runs goroutines one at a time. There is one Scheduler at a time.
type Scheduler struct {
	// Choose says which of n goroutines goes on. If stays is set, 0 is the goroutine that
	// has run so far; the others, or else all, are in the order in which they were started.
	Choose func(n int, stays bool) int

	// Hurry reports whether time passes until the next that waits for it, although others
	// can run. It may be nil.
	Hurry func() bool

	// Quiet is called when nobody can run before time has passed, and says what is
	// wrong with that, if anything.
	Quiet func() error

	threads []*thread
	last    *thread
	now     time.Duration
	points  int
	back    chan struct{} // the goroutine that ran has come to a point
	err     error
	over    bool // the goroutines that are left must end
}

// A thread is a goroutine of a Scheduler.
type thread struct {
	resume chan struct{}
	ready  func() bool // nil: it can run
	until  time.Duration
	gives  bool // it lets others run first
	daemon bool // nobody waits for its end
	ended  bool
	leaves bool // it is ending because the Scheduler is over
}

// the is the Scheduler that runs, or nil.
var the *Scheduler

const never = time.Duration(1) << 62

// maxPoints bounds a run, in points at which goroutines may take turns: a longer run is taken for an endless one.
const maxPoints = 200000

// Run runs start, and what that starts with Go, until all have ended. It returns what
// went wrong.
func (w *Scheduler) Run(start func()) error {
	the = w
	defer func() { the = nil }()
	w.back = make(chan struct{})
	w.start(start)
	for w.err == nil {
		t := w.pick()
		if t == nil {
			break
		}
		w.resume(t)
		if w.points++; w.points > maxPoints {
			w.fail("the goroutines run in circles")
		}
	}
	w.over = true
	for _, t := range w.threads { // the list may grow
		for !t.ended {
			w.resume(t)
		}
	}
	return w.err
}

func (w *Scheduler) resume(t *thread) {
	w.last = t
	t.resume <- struct{}{}
	<-w.back
}

func (w *Scheduler) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// pick returns the goroutine that runs next, or nil if all have ended or something is wrong.
func (w *Scheduler) pick() *thread {
	for {
		var able, giving []*thread
		alive := 0
		next := never
		for _, t := range w.threads {
			if t.ended {
				continue
			}
			if !t.daemon {
				alive++
			}
			switch {
			case t.gives:
				giving = append(giving, t)
			case t.ready == nil || t.until <= w.now || t.ready():
				able = append(able, t)
			default:
				next = min(next, t.until)
			}
		}
		switch {
		case alive == 0:
			return nil
		case next != never && w.Hurry != nil && w.Hurry():
			w.now = next
			continue
		case len(able) > 0:
			return w.choose(able)
		case len(giving) > 0: // it looks again and again: let time pass
			w.now += time.Microsecond
			return w.choose(giving)
		}
		if w.Quiet != nil {
			if err := w.Quiet(); err != nil {
				w.fail("%w", err)
				return nil
			}
		}
		if next == never {
			w.fail("%d goroutines wait for ever", alive)
			return nil
		}
		w.now = next
	}
}

func (w *Scheduler) choose(able []*thread) *thread {
	stays := false
	for i, t := range able {
		if t == w.last {
			copy(able[1:i+1], able[:i])
			able[0] = t
			stays = true
		}
	}
	if len(able) == 1 {
		return able[0]
	}
	return able[w.Choose(len(able), stays)]
}

// start makes a goroutine.
func (w *Scheduler) start(f func()) *thread {
	t := &thread{resume: make(chan struct{}), until: never}
	w.threads = append(w.threads, t)
	go func() {
		defer func() {
			if p := recover(); p != nil && !w.over {
				w.fail("panic: %v\n%s", p, debug.Stack())
			}
			t.ended = true
			w.back <- struct{}{}
		}()
		<-t.resume
		if !w.over {
			f()
		}
	}()
	return t
}

// block lets others run until ready, or the time has come.
func (w *Scheduler) block(ready func() bool, until time.Duration) {
	t := w.last
	if w.over {
		if !t.leaves {
			t.leaves = true
			runtime.Goexit()
		}
		return
	}
	t.ready = ready
	t.until = until
	w.back <- struct{}{}
	<-t.resume
	t.ready = nil
	t.until = never
	if w.over {
		t.leaves = true
		runtime.Goexit()
	}
}

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

// Now returns the time in the Scheduler.
func (w *Scheduler) Now() time.Duration { return w.now }

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
