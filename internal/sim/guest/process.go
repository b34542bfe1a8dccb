package guest

import (
	"iter"
	"runtime"
	"strings"

	"weft/internal/sim"
	"weft/transport"
)

// A Process is one process of a job, as its driver sees the world: it is the
// driver's Host, and the transport that it sends and receives by.
type Process struct {
	rank    int
	world   *sim.World
	net     *sim.Network
	machine *sim.Machine
	mtu     int
	tick    func() // handles what has arrived and what is due
	ran     *sim.Time

	in []transport.In

	resume  func() (struct{}, bool) // lets the program run until it sleeps
	yield   func(struct{}) bool
	id      string // of the program's goroutine
	asleep  bool
	waking  bool
	ended   bool
	running bool     // it, or its driver: nobody else may call
	nap     int      // counts sleeps, so that late alarms wake nobody
	until   sim.Time // when the sleep ends by itself
}

// New returns a process on a machine of a network. Packets are at most mtu bytes.
func New(w *sim.World, n *sim.Network, rank, mtu int) *Process {
	p := &Process{rank: rank, world: w, net: n, machine: n.Machine(rank), mtu: mtu}
	p.machine.Boot(p)
	return p
}

// Start makes the program begin, at this time of the world. Tick is called when
// there is something to do for the driver; ran is when the program last ran.
func (p *Process) Start(tick func(), ran *sim.Time, program func()) {
	p.tick, p.ran = tick, ran
	p.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		p.yield, p.id = yield, goroutine()
		program()
		p.ended = true
	})
	p.world.At(p.world.Now(), p)
}

// Act lets the program run until it sleeps or ends.
func (p *Process) Act() {
	p.asleep, p.waking = false, false
	*p.ran = p.world.Now()
	p.running = true
	p.resume()
	p.running = false
}

// Ended reports whether the program has ended.
func (p *Process) Ended() bool { return p.ended }

// Now returns the time of the machine's clock.
func (p *Process) Now() sim.Time { return p.machine.Now() }

// Sleep lets others run until Wake, or until the time comes.
func (p *Process) Sleep(until sim.Time) {
	if p.check(); p.asleep || p.ended || p.nap%vigilance == 0 && goroutine() != p.id {
		panic(stranger)
	}
	p.asleep = true
	p.nap++
	p.until = until
	if until != sim.Never {
		nap := p.nap
		p.world.After(max(until.Sub(p.Now()), 0), func() {
			if p.nap == nap {
				p.Wake()
			}
		})
	}
	p.yield(struct{}{})
}

// vigilance is how seldom it is checked who sleeps: that takes microseconds.
const vigilance = 16

const stranger = "weft: in the simulator a rank must use weft from the goroutine that its function was called on, and another one has called it"

// goroutine returns a number that is unlike that of any other goroutine.
func goroutine() string {
	var b [32]byte // "goroutine 123 [running]:…"
	n := runtime.Stack(b[:], false)
	_, number, _ := strings.Cut(string(b[:n]), " ")
	number, _, _ = strings.Cut(number, " ")
	return number
}

// Wake lets the program go on, if it sleeps.
func (p *Process) Wake() {
	if p.asleep && !p.waking {
		p.waking = true
		p.nap++
		p.world.At(p.world.Now(), p)
	}
}

// Waits reports whether the program sleeps and nothing will wake it but another
// process.
func (p *Process) Waits() bool { return p.asleep && !p.waking && p.until == sim.Never }

// Alarm makes tick be called when the machine's clock shows t, and perhaps before.
func (p *Process) Alarm(t sim.Time) { p.machine.SetTimer(t) }

// Later runs f at this same time.
func (p *Process) Later(f func()) {
	p.world.After(0, func() {
		p.running = true
		f()
		p.running = false
	})
}

// Timer is called when the alarm rings.
func (p *Process) Timer() { p.visit() }

// visit lets the driver do what there is to do.
func (p *Process) visit() {
	p.running = true
	p.tick()
	p.running = false
}

// check panics if somebody calls who should sleep.
func (p *Process) check() {
	if !p.running {
		panic(stranger)
	}
}

// Packet is called when a packet has arrived.
func (p *Process) Packet(from int, b []byte) {
	p.in = append(p.in, transport.In{From: -1, Data: b})
	p.visit()
	p.in = p.in[:0] // b was borrowed
}
