package proc

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"weft/internal/sim"
)

// Turns hands the turn round among the goroutines of all processes of a world.
//
// The goroutine that runs the world, the runner, resumes a thread as a coroutine,
// and is itself suspended until the thread gives the turn away. If the thread blocks
// on a channel instead, the runner would be suspended for good: a watch notices,
// takes the turn back and lets another runner go on with the world. The thread is
// adrift then. What it does before its next call the world cannot order; in that
// call it waits for a turn. After each turn the world waits until all threads that
// are adrift are blocked, or have come back: so what a turn has set free has
// happened before the next one.
type Turns struct {
	world *sim.World
	step  func() bool // lets the world go on; false: it has ended
	ran   sim.Time    // when a program last had the turn

	turn   atomic.Uint64          // odd while a thread has it; counts up
	holder atomic.Pointer[thread] // that thread
	adrift atomic.Int32           // how many threads are
	done   atomic.Uint64          // counts what threads have done to the world
	known  atomic.Int32           // goroutines: those before the first thread, and ours

	latch  latch // of what follows
	lost   []*thread
	ids    map[string]bool // goroutines of threads, and those that these have started
	runner *runner         // the one in charge

	over   chan struct{} // closed at the end
	exited bool          // the last runner, by runtime.Goexit
}

// A runner is a goroutine that lets the world go on.
type runner struct {
	deposed bool // another one does
}

// NewTurns returns the turns of a world.
func NewTurns(w *sim.World) *Turns {
	ts := &Turns{world: w, over: make(chan struct{}), ids: map[string]bool{}, runner: new(runner)}
	ts.known.Store(int32(runtime.NumGoroutine()) + 1) // a runner
	return ts
}

// Ran returns when a program last had the turn.
func (ts *Turns) Ran() sim.Time { return ts.ran }

// Run calls step until it returns false. Step lets one event happen. When a program
// calls runtime.Goexit, as a test that fails does, the caller exits too.
func (ts *Turns) Run(step func() bool) {
	ts.step = step
	go ts.run(ts.runner)
	ts.watch()
	if ts.exited {
		runtime.Goexit()
	}
}

// next is step, and takes in the threads that have come back by themselves.
func (ts *Turns) next() bool {
	if ts.adrift.Load() > 0 {
		ts.latch.lock()
		ts.takeIn()
		ts.latch.unlock()
	}
	return ts.step()
}

// run lets the world go on until it has ended, or another runner does.
func (ts *Turns) run(me *runner) {
	ended := false
	defer func() {
		if !me.deposed {
			ts.exited = !ended
			close(ts.over)
		}
	}()
	if ts.adrift.Load() > 0 {
		ts.settle()
	}
	for ts.next() {
	}
	ended = true
}

// give lets a thread have the turn.
func (ts *Turns) give(t *thread) {
	me := ts.runner
	ts.ran = ts.world.Now()
	ts.holder.Store(t)
	turn := ts.turn.Add(1)
	t.resume()
	if !ts.turn.CompareAndSwap(turn, turn+1) {
		ts.deposed(me, t)
		return
	}
	ts.holder.Store(nil)
	if t.ended {
		t.p.drop(t)
	}
	if ts.adrift.Load() > 0 {
		ts.settle()
	}
}

// deposed ends a runner whose thread was adrift and has come back: another one runs
// the world.
func (ts *Turns) deposed(me *runner, t *thread) {
	me.deposed = true
	ts.known.Add(-1)
	ts.latch.lock()
	t.home = true
	ts.latch.unlock()
	runtime.Goexit()
}

// begun notes which goroutine a thread is, which calls it.
func (ts *Turns) begun(t *thread) {
	id := goroutine()
	ts.latch.lock()
	t.id = id
	ts.ids[id] = true
	ts.latch.unlock()
}

// self returns the calling thread. If it is adrift it waits for a turn.
func (ts *Turns) self(p *Process) *thread {
	t := ts.holder.Load()
	if t == nil || t.p != p || ts.adrift.Load() > 0 || runtime.NumGoroutine() > int(ts.known.Load()) {
		return ts.who(p)
	}
	if p.calls++; p.calls%vigilance == 0 && goroutine() != t.id {
		panic(stranger(p))
	}
	return t
}

// vigilance is how seldom it is checked who calls where nothing looks amiss: that
// takes microseconds.
const vigilance = 64

// who is self for a goroutine of which it is not sure that it has the turn.
func (ts *Turns) who(p *Process) *thread {
	id := goroutine()
	ts.latch.lock()
	t := ts.holder.Load()
	has := t != nil && t.id == id
	if i := slices.IndexFunc(ts.lost, func(t *thread) bool { return t.id == id }); !has && i >= 0 {
		t = ts.lost[i]
	} else if !has {
		t = nil
	}
	ts.latch.unlock()
	switch {
	case t == nil:
		panic(stranger(p))
	case t.p != p:
		panic(fmt.Sprintf("weft: in the simulator a goroutine of rank %d has called a Proc of rank %d, or what belongs to it", t.p.rank, p.rank))
	case !has:
		t.yield(struct{}{}) // to the runner that it left suspended
	}
	return t
}

func stranger(p *Process) string {
	return fmt.Sprintf("weft: in the simulator a goroutine that uses weft must be started with Proc.Go: rank %d has one that was not", p.rank)
}

// watch looks for a thread that has the turn and is blocked, until the end.
func (ts *Turns) watch() {
	const often, seldom, most = 50 * time.Microsecond, time.Millisecond, 50 * time.Millisecond
	var seen, suspect uint64 // turns
	var moved time.Time      // a thread was last set adrift
	pause := seldom
	for {
		select {
		case <-ts.over:
			return
		case <-time.After(pause):
		}
		turn := ts.turn.Load()
		switch {
		case turn%2 == 0 || turn != seen:
			pause = seldom
			if time.Since(moved) < 100*time.Millisecond {
				pause = often
			}
		case !ts.blocked(turn): // it computes
			pause = min(2*pause, most)
		case turn != suspect: // a moment's wait for a lock looks the same
			suspect, pause = turn, often
		case ts.takeBack(turn):
			moved, pause = time.Now(), often
		}
		seen = turn
	}
}

// blocked reports whether the thread that has a turn is blocked.
func (ts *Turns) blocked(turn uint64) bool {
	ts.latch.lock()
	defer ts.latch.unlock()
	t := ts.holder.Load()
	if t == nil || ts.turn.Load() != turn {
		return false
	}
	s := ts.states()
	return s.blocked(t.id) && !s.busy(ts.ids)
}

// takeBack takes a turn from a thread that is blocked, and reports whether it has.
func (ts *Turns) takeBack(turn uint64) bool {
	ts.latch.lock()
	defer ts.latch.unlock()
	t := ts.holder.Load()
	ts.adrift.Add(1)
	if t == nil || !ts.turn.CompareAndSwap(turn, turn+1) {
		ts.adrift.Add(-1)
		return false
	}
	ts.done.Load() // so that we see what it has done
	ts.holder.Store(nil)
	t.home = false
	ts.lost = append(ts.lost, t)
	ts.runner = new(runner)
	ts.known.Add(1)
	go ts.run(ts.runner)
	return true
}

// settle waits until every thread that is adrift is blocked, and takes in those that
// have come back.
func (ts *Turns) settle() {
	for round := 0; ; round++ {
		ts.latch.lock()
		ts.takeIn()
		settled := len(ts.lost) == 0
		if !settled {
			s := ts.states()
			settled = !s.busy(ts.ids)
			for _, t := range ts.lost {
				settled = settled && s.blocked(t.id)
			}
		}
		ts.latch.unlock()
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

// takeIn lets those take turns again that have come back, in an order that does not
// depend on when they did. The latch is held.
func (ts *Turns) takeIn() {
	var back []*thread
	ts.lost = slices.DeleteFunc(ts.lost, func(t *thread) bool {
		if t.home {
			back = append(back, t)
		}
		return t.home
	})
	slices.SortFunc(back, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(a.p.rank, b.p.rank), cmp.Compare(a.n, b.n))
	})
	for _, t := range back {
		ts.adrift.Add(-1)
		switch {
		case t.ended:
			t.p.drop(t)
		case !t.asleep: // else it had not been blocked for long enough, and went to sleep in its turn
			t.p.rouse(t)
		}
		t.p.look(nil)
	}
}

// Adrift says what the threads of a process wait for that wait without weft.
func (p *Process) Adrift() (lines []string) {
	ts := p.turns
	ts.latch.lock()
	defer ts.latch.unlock()
	var s states
	for _, t := range ts.lost {
		if t.p == p {
			if s == nil {
				s = ts.states()
			}
			lines = append(lines, fmt.Sprintf("a goroutine waits in Go: %s, and timers of package time do not pass in virtual time", s[t.id]))
		}
	}
	return lines
}

// A latch is a lock. A goroutine that waits for it does not look blocked.
type latch struct{ taken atomic.Bool }

func (l *latch) lock() {
	for !l.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (l *latch) unlock() { l.taken.Store(false) }
