package proc

import (
	"bytes"
	"time"

	"weft/internal/sim"
	"weft/internal/transport"
)

// A Process is one process of a job. For its driver it is both the Host, which gives it time and goroutines, and the
// transport by which it sends and receives.
type Process struct {
	transport.Steady

	rank    int
	world   *sim.World
	net     *sim.Network
	machine *sim.Machine
	mtu     int
	turns   *Turns
	tick    func(room bool) // of the driver: handles packets that have arrived, timers that are due and room for packets

	memory   transport.Memory // shared with the processes of its host, or nil
	unshare  func()           // ends what the process shares; nil without shared memory
	sameHost *[]*Process      // the processes of its host, itself included; nil without shared memory

	in   []transport.In
	full bool // the machine's own link takes no packets; roomAgain will be called
	room bool // it takes some again, and the driver is to hear of it

	threads map[int]*thread // the threads that have not ended, by number
	order   []*thread       // the same, in the order of their start
	ready   []*thread       // the threads that can run
	started int             // threads started so far
	crashed bool
	closed  bool // the transport is closed
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

// Share puts the process on a host whose processes share memory. Gone is called when the process is gone.
func (p *Process) Share(m transport.Memory, gone func(), sameHost *[]*Process) {
	p.memory = m
	p.unshare = gone
	p.sameHost = sameHost
	*sameHost = append(*sameHost, p)
}

// Start starts the program, at the current time of the world. Tick is called when a packet has arrived, a timer is due
// or, if room is set, Send takes packets again.
func (p *Process) Start(tick func(room bool), program func()) {
	p.tick = tick
	p.newThread(program)
}

// Go runs f in a new goroutine, which takes turns like the others.
func (p *Process) Go(f func()) { p.newThread(f) }

// Act gives the turn to one of the threads that are ready, until it gives the turn away.
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
	t.ready = false
	t.asleep = false
	t.wakeIf = nil
	p.turns.give(t)
	p.checkWaits(t)
}

// checkWaits makes the threads of the host ready whose condition to wake now holds. The thread that had the turn
// last has checked its own condition.
func (p *Process) checkWaits(last *thread) {
	if p.sameHost == nil {
		p.checkOwnWaits(last)
		return
	}
	for _, q := range *p.sameHost {
		q.checkOwnWaits(last)
	}
}

// checkOwnWaits makes the threads of this process ready whose condition to wake now holds. The thread that had the
// turn checks its own condition itself.
func (p *Process) checkOwnWaits(last *thread) {
	for _, t := range p.order {
		if t != last && t.asleep && !t.ready && t.wakeIf != nil && t.wakeIf() {
			p.makeReady(t)
		}
	}
}

// Ended reports whether all goroutines of the process have ended.
func (p *Process) Ended() bool { return len(p.order) == 0 }

// Now returns the time of the machine's clock.
func (p *Process) Now() sim.Time {
	now := p.machine.Now()
	p.turns.done.Add(1) // orders this read before the writes of a runner that takes the turn back
	return now
}

// When a goroutine of several enters a call, it loses its turn one time in preemptOneIn, for at most preemptFor.
const (
	preemptOneIn = 4
	preemptFor   = time.Microsecond
)

// lateCalls is how many calls a crashed process may make before its goroutines are stopped for good.
const lateCalls = 10_000

// Crash switches the machine off. The goroutines of the process go on, but none of their packets leaves.
func (p *Process) Crash() {
	p.crashed = true
	p.machine.Crash()
	p.leaveHost()
	p.WakeAll()
}

// leaveHost ends what the process shares with others of its host.
func (p *Process) leaveHost() {
	if p.unshare != nil {
		p.unshare()
	}
}

// Crashed reports whether the process has crashed.
func (p *Process) Crashed() bool { return p.crashed }

// Turn returns when the calling goroutine has the turn. It may have lost the turn while it waited by the means of Go.
func (p *Process) Turn() { p.turns.self(p) }

// Yield lets others run. The calling goroutine, which has the turn, goes on at the same virtual time, or when its
// machine is no longer paused.
func (p *Process) Yield() { p.turns.holder.Load().sleep(p.Now(), nil) }

// Enter begins a call of the driver. It returns when the calling goroutine has the turn, which it may have lost to
// others for a moment.
func (p *Process) Enter() {
	t := p.turns.self(p)
	if p.crashed {
		if p.late++; p.late > lateCalls {
			t.sleep(sim.Never, nil) // the program ignores the errors that it gets
		}
	}
	if len(p.order) > 1 && p.world.Rand.IntN(preemptOneIn) == 0 {
		t.sleep(p.Now().Add(p.world.Between(0, preemptFor)), nil)
	}
}

// Sleep lets others run until Wake, or until a time, or until wakeIf, if it is not nil, returns true. WakeIf is called
// when another goroutine of the host has run, when a packet has arrived, and when an alarm has rung. The calling
// goroutine must have entered a call.
func (p *Process) Sleep(until sim.Time, wakeIf func() bool) {
	p.turns.holder.Load().sleep(until, wakeIf)
}

// Self returns the number of the calling goroutine, for Wake. The goroutine must have entered a call.
func (p *Process) Self() int { return p.turns.holder.Load().n }

// Wake ends the sleep of a goroutine.
func (p *Process) Wake(n int) {
	if t := p.threads[n]; t != nil && t.asleep {
		p.makeReady(t)
	}
	p.turns.done.Add(1)
}

// WakeAll ends all sleeps.
func (p *Process) WakeAll() {
	for _, t := range p.order {
		if t.asleep {
			p.makeReady(t)
		}
	}
	p.turns.done.Add(1)
}

// Waits reports whether all goroutines sleep and only another process can wake one.
func (p *Process) Waits() bool {
	for _, t := range p.order {
		if t.ready || t.asleep && t.until != sim.Never {
			return false
		}
	}
	return true
}

// Alarm makes the world call tick when the machine's clock shows t, and perhaps before.
func (p *Process) Alarm(t sim.Time) {
	p.machine.SetTimer(t)
	p.turns.done.Add(1)
}

// Later runs f at the current time, as an event of its own.
func (p *Process) Later(f func()) {
	p.world.After(0, func() {
		f()
		p.checkWaits(nil)
	})
	p.turns.done.Add(1)
}

// Timer is called when the alarm rings.
func (p *Process) Timer() { p.runDriver() }

// runDriver lets the driver handle packets and timers.
func (p *Process) runDriver() {
	p.tick(p.room)
	p.room = false
	p.checkWaits(nil)
}

// Packet is called when a packet has arrived. If the process has several goroutines, chance may delay the call of the
// driver, so that a goroutine that polls finds the packet first.
func (p *Process) Packet(from int, b []byte) {
	if len(p.order) > 1 && p.world.Rand.IntN(2) == 0 {
		p.in = append(p.in, transport.In{From: -1, Data: bytes.Clone(b)})
		p.world.After(p.world.Between(0, preemptFor), p.runDriverLater)
		return
	}
	p.in = append(p.in, transport.In{From: -1, Data: b})
	p.runDriver()
	p.in = p.in[:0] // b was borrowed
}

// runDriverLater is runDriver as soon as the machine is not paused.
func (p *Process) runDriverLater() {
	if p.machine.Paused() {
		p.world.After(p.machine.PausedUntil().Sub(p.world.Now()), p.runDriverLater)
		return
	}
	p.runDriver()
}
