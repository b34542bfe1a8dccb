package doorbell

import (
	"sync/atomic"
	"time"

	"weft/internal/sys"
	"weft/internal/transport"
)

// A Poll is a doorbell of a node whose peers are all on other hosts. Its sleeper
// waits for the sockets themselves, so that what arrives wakes nobody between.
type Poll struct {
	state  atomic.Uint32
	waiter *sys.Waiter
}

// NewPoll returns a doorbell that is Awake. It must be closed.
func NewPoll() (*Poll, error) {
	w, err := sys.NewWaiter()
	return &Poll{waiter: w}, err
}

// Set publishes the state.
func (p *Poll) Set(s transport.State) { p.state.Store(uint32(s)) }

// State returns the current state.
func (p *Poll) State() transport.State { return transport.State(p.state.Load()) }

// Sleep blocks the caller's thread until somebody rings or a socket that is armed
// has something, if the state is still s, or until d has passed. A d below zero
// means no limit.
func (p *Poll) Sleep(s transport.State, d time.Duration) {
	if p.State() == s && p.waiter.Wait(d) {
		p.Set(transport.Awake)
	}
}

// Ring wakes a sleeper, whatever the state, and sets it to Awake.
func (p *Poll) Ring() {
	p.Set(transport.Awake)
	p.waiter.Wake()
}

// Wake rings if the state says that somebody wants to hear of a packet.
func (p *Poll) Wake(urgent bool) {
	s := p.State()
	if s == transport.Awake || s == transport.Idle && !urgent {
		return
	}
	if p.state.CompareAndSwap(uint32(s), uint32(transport.Awake)) {
		p.waiter.Wake()
	}
}

// Close gives the doorbell back. No goroutine may sleep on it.
func (p *Poll) Close() { p.waiter.Close() }

// An Alarm rings a doorbell when a socket has something, once for each time that
// it is armed.
type Alarm struct {
	fds       []int
	poll      *Poll
	interrupt *sys.Interrupt // for doorbells that cannot wait for sockets
}

// NewAlarm returns an alarm for sockets, unarmed.
func NewAlarm(bell transport.Doorbell, fds ...int) (a *Alarm, err error) {
	a = &Alarm{fds: fds}
	var ok bool
	if a.poll, ok = bell.(*Poll); !ok {
		a.interrupt, err = sys.NewInterrupt(bell.Ring, fds...)
	}
	return a, err
}

// Arm makes the next arrival ring; so does one that waits already.
func (a *Alarm) Arm() {
	if a.poll == nil {
		a.interrupt.Arm()
		return
	}
	for _, fd := range a.fds {
		a.poll.waiter.Watch(fd)
	}
}

// Close ends the alarm. It must come before that of the sockets.
func (a *Alarm) Close() {
	if a.poll == nil {
		a.interrupt.Close()
		return
	}
	for _, fd := range a.fds {
		a.poll.waiter.Forget(fd)
	}
}
