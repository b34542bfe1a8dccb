//go:build mutants

package interleave

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// A Scheduler runs goroutines one at a time. There is one Scheduler at a time.
type Scheduler struct {
	// Choose says which of n goroutines goes on. If stays is set, 0 is the goroutine that
	// has run so far; the others, or else all, are in the order in which they were started.
	Choose func(n int, stays bool) int

	// Hurry reports whether time passes until the next that waits for it, although others
	// can run. It may be nil.
	Hurry func() bool

	// Quiet is called when no goroutine can run before time has passed, and says what is
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
	daemon bool // no goroutine waits for its end
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

// Now returns the time in the Scheduler.
func (w *Scheduler) Now() time.Duration { return w.now }
