package proc

import (
	"iter"
	"sync/atomic"

	"weft/internal/sim"
)

// A thread is one goroutine of a process that takes turns.
type thread struct {
	p         *Process
	n         int            // its number in the process, from 1
	id        string         // of its goroutine, in stack traces
	goroutine atomic.Uintptr // its number, from sys.Goroutine

	resume func() (struct{}, bool)
	yield  func(struct{}) bool

	asleep bool // in Sleep
	ready  bool // it can run, and is in the process's list
	ended  bool
	sleeps int         // counts sleeps, so that the alarm of an earlier one has no effect
	until  sim.Time    // when the sleep ends by itself
	wakeIf func() bool // ends the sleep when it returns true; or nil
	since  sim.Time    // when the sleep began

	returned bool // it was detached and has come back; guarded by Turns.mu
}

// newThread makes a thread that is ready to begin.
func (p *Process) newThread(program func()) {
	p.started++
	t := &thread{p: p, n: p.started, until: sim.Never}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		p.turns.begun(t)
		program()
		t.ended = true
	})
	p.threads[t.n] = t
	p.order = append(p.order, t)
	p.makeReady(t)
	p.turns.done.Add(1)
}

// makeReady puts a thread into the list of threads that can run.
func (p *Process) makeReady(t *thread) {
	if !t.ready && !t.ended {
		t.ready = true
		t.sleeps++
		p.ready = append(p.ready, t)
		p.world.At(p.world.Now(), p)
	}
}

// drop removes a thread that has ended.
func (p *Process) drop(t *thread) {
	delete(p.threads, t.n)
	for i, o := range p.order {
		if o == t {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
}

// sleep gives the turn away until the thread is made ready, the time comes, or wakeIf returns true.
func (t *thread) sleep(until sim.Time, wakeIf func() bool) {
	p := t.p
	t.asleep = true
	t.until = until
	t.wakeIf = wakeIf
	t.since = p.world.Now()
	t.sleeps++
	if until != sim.Never {
		this := t.sleeps
		p.world.After(max(until.Sub(p.Now()), 0), func() {
			if t.sleeps == this {
				p.makeReady(t)
			}
		})
	}
	t.yield(struct{}{})
}
