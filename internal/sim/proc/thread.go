package proc

import (
	"iter"

	"weft/internal/sim"
)

// A thread is one goroutine of a process that takes turns.
type thread struct {
	p      *Process
	n      int    // its number in the process, from 1
	id     string // of its goroutine
	resume func() (struct{}, bool)
	yield  func(struct{}) bool

	asleep bool // in Sleep
	ready  bool // it can go on, and stands in the process's list
	ended  bool
	nap    int         // counts sleeps, so that late alarms wake nobody
	until  sim.Time    // when the sleep ends by itself
	over   func() bool // whether it ends now, or nil
	since  sim.Time    // it sleeps

	home bool // it was adrift and has come back; under Turns.latch
}

// newThread makes a thread, ready to begin.
func (p *Process) newThread(program func()) *thread {
	p.born++
	t := &thread{p: p, n: p.born, until: sim.Never}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		p.turns.begun(t)
		program()
		t.ended = true
	})
	p.turns.known.Add(1)
	p.threads[t.n] = t
	p.order = append(p.order, t)
	p.rouse(t)
	p.turns.done.Add(1)
	return t
}

// rouse puts a thread among those that can go on.
func (p *Process) rouse(t *thread) {
	if !t.ready && !t.ended {
		t.ready = true
		t.nap++
		p.ready = append(p.ready, t)
		p.world.At(p.world.Now(), p)
	}
}

// drop forgets a thread that has ended.
func (p *Process) drop(t *thread) {
	p.turns.known.Add(-1)
	delete(p.threads, t.n)
	for i, o := range p.order {
		if o == t {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
}

// sleep gives the turn away until the thread is roused, the time comes, or over
// holds.
func (t *thread) sleep(until sim.Time, over func() bool) {
	p := t.p
	t.asleep, t.until, t.over, t.since = true, until, over, p.world.Now()
	t.nap++
	if until != sim.Never {
		nap := t.nap
		p.world.After(max(until.Sub(p.Now()), 0), func() {
			if t.nap == nap {
				p.rouse(t)
			}
		})
	}
	t.yield(struct{}{})
}
