package proc

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"weft/internal/sim"
	"weft/internal/sys"
)

// Turns passes the turn among the goroutines of all processes of a world.
//
// The goroutine that runs the world, the runner, resumes a thread as a coroutine, and is suspended itself until the
// thread gives the turn away. If the thread blocks on a channel instead, the runner would be suspended for good. So a
// watch notices that, takes the turn back, and starts another runner. The thread is detached then: the world cannot
// order what it does before its next call of weft, and in that call it waits for a turn. After each turn the runner
// waits until every detached thread is blocked or has come back, so that everything that a turn has unblocked has
// happened before the next turn.
type Turns struct {
	world *sim.World
	step  func() bool // runs one event; false: the world has ended
	ran   sim.Time    // when a program last had the turn

	turn          atomic.Uint64          // odd while a thread has the turn; counts up
	holder        atomic.Pointer[thread] // the thread that has the turn
	detachedCount atomic.Int32           // length of detached
	done          atomic.Uint64          // counts what threads have done to the world

	mu       spinLock // guards the fields that follow
	detached []*thread
	ids      map[string]bool // goroutines of threads, and the goroutines that these have started
	stacks   []byte          // room for the stacks of all goroutines
	runner   *runner         // the runner in charge

	ended  chan struct{} // closed at the end
	exited bool          // the last runner ended by runtime.Goexit
}

// A runner is a goroutine that runs the world.
type runner struct {
	replaced bool // another runner is in charge
}

// NewTurns returns the turns of a world.
func NewTurns(w *sim.World) *Turns {
	return &Turns{world: w, ended: make(chan struct{}), ids: map[string]bool{}, runner: new(runner)}
}

// Ran returns when a program last had the turn.
func (ts *Turns) Ran() sim.Time { return ts.ran }

// Run calls step, which runs one event, until step returns false. When a program calls runtime.Goexit, as a failing
// test does, the calling goroutine exits too.
func (ts *Turns) Run(step func() bool) {
	ts.step = step
	go ts.run(ts.runner)
	ts.watch()
	if ts.exited {
		runtime.Goexit()
	}
}

// next runs one event, after readmitting the threads that have come back.
func (ts *Turns) next() bool {
	if ts.detachedCount.Load() > 0 {
		ts.mu.lock()
		ts.readmit()
		ts.mu.unlock()
	}
	return ts.step()
}

// run runs the world until it has ended or another runner is in charge.
func (ts *Turns) run(me *runner) {
	ended := false
	defer func() {
		if !me.replaced {
			ts.exited = !ended
			close(ts.ended)
		}
	}()
	if ts.detachedCount.Load() > 0 {
		ts.settle()
	}
	for ts.next() {
	}
	ended = true
}

// give gives the turn to a thread, and returns when the thread has given it away.
func (ts *Turns) give(t *thread) {
	me := ts.runner
	ts.ran = ts.world.Now()
	ts.holder.Store(t)
	turn := ts.turn.Add(1)
	t.resume()
	if !ts.turn.CompareAndSwap(turn, turn+1) {
		ts.retire(me, t)
		return
	}
	ts.holder.Store(nil)
	if t.ended {
		t.p.drop(t)
	}
	if ts.detachedCount.Load() > 0 {
		ts.settle()
	}
}

// retire ends a runner whose thread was detached and has come back: another runner is in charge.
func (ts *Turns) retire(me *runner, t *thread) {
	me.replaced = true
	ts.mu.lock()
	t.returned = true
	ts.mu.unlock()
	runtime.Goexit()
}

// begun notes the goroutine of a thread. The thread calls it.
func (ts *Turns) begun(t *thread) {
	id := goroutine()
	t.goroutine.Store(sys.Goroutine())
	ts.mu.lock()
	t.id = id
	ts.ids[id] = true
	ts.mu.unlock()
}

// self returns the calling thread. If the thread is detached, self waits for a turn.
func (ts *Turns) self(p *Process) *thread {
	t := ts.holder.Load()
	if t == nil || t.p != p || t.goroutine.Load() != sys.Goroutine() || ts.detachedCount.Load() > 0 {
		return ts.find(p)
	}
	return t
}

// find is self for a goroutine that perhaps does not have the turn.
func (ts *Turns) find(p *Process) *thread {
	calling := func(t *thread) bool { return t.goroutine.Load() == sys.Goroutine() }
	ts.mu.lock()
	t := ts.holder.Load()
	has := t != nil && calling(t)
	if i := slices.IndexFunc(ts.detached, calling); !has && i >= 0 {
		t = ts.detached[i]
	} else if !has {
		t = nil
	}
	ts.mu.unlock()
	switch {
	case t == nil:
		panic(strangerMessage(p))
	case t.p != p:
		panic(fmt.Sprintf("weft: in the simulator a goroutine of rank %d has called a Proc of rank %d, "+
			"or something that was made with it", t.p.rank, p.rank))
	case !has:
		t.yield(struct{}{}) // to the runner that is suspended in give
	}
	return t
}

// strangerMessage is the text of the panic when a goroutine that the simulator does not know calls weft: it has no
// turn, and what it did would not follow from the seed.
func strangerMessage(p *Process) string {
	return fmt.Sprintf("weft: in the simulator a goroutine that uses weft must be started with Proc.Go: "+
		"rank %d has one that was not", p.rank)
}

// watch looks for a thread that has the turn and is blocked, until the world has ended. To look takes the longer the
// more goroutines there are. So while goroutines run, which nearly always means that the thread computes, or waits for
// a processor, the watch looks for at most a twentieth of the time.
func (ts *Turns) watch() {
	const (
		often  = 50 * time.Microsecond
		seldom = time.Millisecond
		most   = 50 * time.Millisecond
		share  = 20
	)
	var seen, suspect uint64 // turns
	var moved time.Time      // when a thread was last detached
	var rest time.Time       // until then the watch does not look while goroutines run
	pause := seldom
	for {
		select {
		case <-ts.ended:
			return
		case <-time.After(pause):
		}
		turn := ts.turn.Load()
		began := time.Now()
		switch {
		case turn%2 == 0 || turn != seen:
			pause = seldom
			if time.Since(moved) < 100*time.Millisecond {
				pause = often
			}
		case began.Before(rest) && !allSleep():
			pause = min(2*pause, most)
		case !ts.blocked(turn): // it computes
			pause = min(2*pause, most)
			rest = time.Now().Add(share * time.Since(began))
		case turn != suspect: // a short wait for a lock looks the same
			suspect = turn
			pause = often
		case ts.takeBack(turn):
			moved = time.Now()
			pause = often
		}
		seen = turn
	}
}

// allSleep reports whether no goroutine of the process but the caller seems to run, or to be able to.
func allSleep() bool {
	counts := []metrics.Sample{
		{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"},
	}
	metrics.Read(counts)
	sum := uint64(0)
	for _, c := range counts {
		if c.Value.Kind() == metrics.KindUint64 {
			sum += c.Value.Uint64()
		}
	}
	return sum <= 1
}

// blocked reports whether the thread that has a turn is blocked.
func (ts *Turns) blocked(turn uint64) bool {
	ts.mu.lock()
	defer ts.mu.unlock()
	t := ts.holder.Load()
	if t == nil || ts.turn.Load() != turn {
		return false
	}
	s := ts.states()
	return s.blocked(t.id) && !s.busy(ts.ids)
}

// takeBack takes a turn from a blocked thread and starts another runner. It reports whether the thread still had the
// turn.
func (ts *Turns) takeBack(turn uint64) bool {
	ts.mu.lock()
	defer ts.mu.unlock()
	t := ts.holder.Load()
	ts.detachedCount.Add(1)
	if t == nil || !ts.turn.CompareAndSwap(turn, turn+1) {
		ts.detachedCount.Add(-1)
		return false
	}
	ts.done.Load() // orders what the thread has done before what follows
	ts.holder.Store(nil)
	t.returned = false
	ts.detached = append(ts.detached, t)
	ts.runner = new(runner)
	go ts.run(ts.runner)
	return true
}

// settle waits until every detached thread is blocked, and readmits the threads that have come back.
func (ts *Turns) settle() {
	for round := 0; ; round++ {
		ts.mu.lock()
		ts.readmit()
		settled := len(ts.detached) == 0
		if !settled {
			s := ts.states()
			settled = !s.busy(ts.ids)
			for _, t := range ts.detached {
				settled = settled && s.blocked(t.id)
			}
		}
		ts.mu.unlock()
		switch {
		case settled:
			return
		case round < 4:
			runtime.Gosched()
		default:
			time.Sleep(min(time.Duration(round)*5*time.Microsecond, time.Millisecond))
		}
	}
}

// readmit lets the threads take turns again that have come back, in an order that does not depend on when they came.
// ts.mu is held.
func (ts *Turns) readmit() {
	var back []*thread
	ts.detached = slices.DeleteFunc(ts.detached, func(t *thread) bool {
		if t.returned {
			back = append(back, t)
		}
		return t.returned
	})
	slices.SortFunc(back, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(a.p.rank, b.p.rank), cmp.Compare(a.n, b.n))
	})
	for _, t := range back {
		ts.detachedCount.Add(-1)
		switch {
		case t.ended:
			t.p.drop(t)
		case !t.asleep: // otherwise it went to sleep in its turn, just before the turn was taken back
			t.p.makeReady(t)
		}
		t.p.checkWaits(nil)
	}
}

// Blocked describes what the detached threads of a process wait for: means of Go, which the world does not see.
func (p *Process) Blocked() (lines []string) {
	ts := p.turns
	ts.mu.lock()
	defer ts.mu.unlock()
	var s states
	for _, t := range ts.detached {
		if t.p == p {
			if s == nil {
				s = ts.states()
			}
			lines = append(lines, fmt.Sprintf("a goroutine waits in Go: %s, and timers of package time do not pass "+
				"in virtual time", s[t.id]))
		}
	}
	return lines
}

// A spinLock is a lock whose waiting goroutines do not look blocked.
type spinLock struct{ taken atomic.Bool }

func (l *spinLock) lock() {
	for !l.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (l *spinLock) unlock() { l.taken.Store(false) }
