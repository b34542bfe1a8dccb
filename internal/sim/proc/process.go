package proc

import (
	"bytes"
	"time"

	"weft/internal/sim"
	"weft/internal/transport"
)

// A Process is one process of a job, as its driver sees the world: it is the
// driver's Host, and the transport that it sends and receives by.
type Process struct {
	transport.Steady

	rank    int
	world   *sim.World
	net     *sim.Network
	machine *sim.Machine
	mtu     int
	turns   *Turns
	tick    func() // handles what has arrived and what is due

	memory transport.Memory // that it shares with its mates, or nil
	mates  *[]*Process      // the processes of its host, itself among them

	in []transport.In

	threads map[int]*thread // that have not ended, by number
	order   []*thread       // the same, by age
	ready   []*thread       // of these, those that can go on
	born    int
	calls   uint64 // of Enter
	crashed bool
	closed  bool // the transport
	late    int  // calls of Enter after the crash
}

// New returns a process on a machine of a network. Packets are at most mtu bytes.
func New(ts *Turns, n *sim.Network, rank, mtu int) *Process {
	p := &Process{
		rank: rank, world: ts.world, net: n, machine: n.Machine(rank), mtu: mtu, turns: ts, threads: map[int]*thread{},
	}
	p.machine.Boot(p)
	return p
}

// Share makes the process one of those that share a host, and its memory.
func (p *Process) Share(m transport.Memory, mates *[]*Process) {
	p.memory, p.mates = m, mates
	*mates = append(*mates, p)
}

// Start makes the program begin, at this time of the world. Tick is called when
// there is something to do for the driver.
func (p *Process) Start(tick func(), program func()) {
	p.tick = tick
	p.newThread(program)
}

// Go runs f in a goroutine of its own, which takes turns as the others do.
func (p *Process) Go(f func()) { p.newThread(f) }

// Act lets one of the goroutines that can go on do so, until it gives the turn
// away.
func (p *Process) Act() {
	if until := p.machine.PausedUntil(); until > p.world.Now() && !p.crashed {
		p.world.At(until, p)
		return
	}
	if len(p.ready) == 0 {
		return
	}
	i := 0
	if len(p.ready) > 1 {
		i = p.world.Rand.IntN(len(p.ready))
	}
	t := p.ready[i]
	p.ready = append(p.ready[:i], p.ready[i+1:]...)
	t.ready, t.asleep, t.over = false, false, nil
	p.turns.give(t)
	p.look(t)
}

// look rouses the threads of the host whose waits are over, for something that just
// happened. The one that has had the turn has looked itself.
func (p *Process) look(last *thread) {
	if p.mates == nil {
		p.lookHere(last)
		return
	}
	for _, q := range *p.mates {
		q.lookHere(last)
	}
}

func (p *Process) lookHere(last *thread) {
	for _, t := range p.order {
		if t != last && t.asleep && !t.ready && t.over != nil && t.over() {
			p.rouse(t)
		}
	}
}

// Ended reports whether the process's goroutines have ended.
func (p *Process) Ended() bool { return len(p.order) == 0 }

// Now returns the time of the machine's clock.
func (p *Process) Now() sim.Time {
	now := p.machine.Now()
	p.turns.done.Add(1) // so that whoever takes the turn back and lets time pass comes after
	return now
}

// swap is how often, one time in so many, a goroutine loses its turn when it enters
// a call and others of its process might act, and the longest time for which.
const (
	swap    = 4
	swapFor = time.Microsecond
)

// lateCalls is how many calls a process has in which to see that it has crashed.
const lateCalls = 10_000

// Crash switches the machine off. The process's goroutines go on, but whatever they
// do reaches nobody.
func (p *Process) Crash() {
	p.crashed = true
	p.machine.Crash()
	p.WakeAll()
}

// Crashed reports whether the process has crashed.
func (p *Process) Crashed() bool { return p.crashed }

// Turn returns when the calling goroutine has the turn: it may have waited in Go, and have
// lost it.
func (p *Process) Turn() { p.turns.self(p) }

// Yield lets others run: the caller, which has the turn, goes on at once, or when its machine
// does.
func (p *Process) Yield() { p.turns.holder.Load().sleep(p.Now(), nil) }

// Enter begins a call of the driver. It returns when the calling goroutine has the
// turn, and has not lost it to others.
func (p *Process) Enter() {
	t := p.turns.self(p)
	if p.crashed {
		if p.late++; p.late > lateCalls {
			t.sleep(sim.Never, nil) // it does not hear that it is dead
		}
	}
	if len(p.order) > 1 && p.world.Rand.IntN(swap) == 0 {
		t.sleep(p.Now().Add(p.world.Between(0, swapFor)), nil)
	}
}

// Sleep lets others run until Wake, or until the time comes, or over, if it is not
// nil, returns true: it is called when another goroutine of the process has run, and
// when a packet has arrived or an alarm has rung.
// The calling goroutine has entered a call.
func (p *Process) Sleep(until sim.Time, over func() bool) { p.turns.holder.Load().sleep(until, over) }

// Self returns the number of the calling goroutine, which has entered a call, for Wake.
func (p *Process) Self() int { return p.turns.holder.Load().n }

// Wake ends the sleep of a goroutine.
func (p *Process) Wake(n int) {
	if t := p.threads[n]; t != nil && t.asleep {
		p.rouse(t)
	}
	p.turns.done.Add(1)
}

// WakeAll ends all sleeps.
func (p *Process) WakeAll() {
	for _, t := range p.order {
		if t.asleep {
			p.rouse(t)
		}
	}
	p.turns.done.Add(1)
}

// Waits reports whether the program sleeps and nothing will wake it but another
// process.
func (p *Process) Waits() bool {
	for _, t := range p.order {
		if t.ready || t.asleep && t.until != sim.Never {
			return false
		}
	}
	return true
}

// Alarm makes tick be called when the machine's clock shows t, and perhaps before.
func (p *Process) Alarm(t sim.Time) {
	p.machine.SetTimer(t)
	p.turns.done.Add(1)
}

// Later runs f at this same time.
func (p *Process) Later(f func()) {
	p.world.After(0, func() {
		f()
		p.look(nil)
	})
	p.turns.done.Add(1)
}

// Timer is called when the alarm rings.
func (p *Process) Timer() { p.visit() }

// visit lets the driver do what there is to do.
func (p *Process) visit() {
	p.tick()
	p.look(nil)
}

// Packet is called when a packet has arrived. Where the process has several goroutines,
// it may lie there for a while before the driver is called, so that a goroutine that
// polls finds it first.
func (p *Process) Packet(from int, b []byte) {
	if len(p.order) > 1 && p.world.Rand.IntN(2) == 0 {
		p.in = append(p.in, transport.In{From: -1, Data: bytes.Clone(b)})
		p.world.After(p.world.Between(0, swapFor), p.notice)
		return
	}
	p.in = append(p.in, transport.In{From: -1, Data: b})
	p.visit()
	p.in = p.in[:0] // b was borrowed
}

// notice is visit, when the machine is not paused.
func (p *Process) notice() {
	if p.machine.Paused() {
		p.world.After(p.machine.PausedUntil().Sub(p.world.Now()), p.notice)
		return
	}
	p.visit()
}
