package sim

import "time"

// A Handler is the software that runs on a machine. The times that it uses are those of the machine's own clock.
type Handler interface {
	// Packet handles a packet that has arrived from a machine. The packet is borrowed: it is valid until Packet
	// returns.
	Packet(from int, b []byte)

	// Timer is called at the time that SetTimer was given.
	Timer()
}

// A Machine is one computer of the cluster.
type Machine struct {
	ID      int
	Handler Handler
	Drift   int64 // of its clock, in parts per million; positive: the clock is fast
	Offset  Time  // what its clock showed when the world began

	world  *World
	paused Time // it does nothing until then
	off    bool
	boots  int // how often it was switched on; alarms of earlier boots are void
	timer  Time
	inbox  []*packet
	held   int // bytes in inbox

	// Overflows counts the packets that were dropped because the machine was paused and its socket buffer full.
	Overflows uint64
}

// socketBuffer is how many bytes can wait for a paused machine.
const socketBuffer = 1 << 20

// Now returns the time of the machine's clock.
func (m *Machine) Now() Time {
	t := m.world.Now()
	return m.Offset + t + t/1e6*Time(m.Drift)
}

// global returns the time of the world at which the machine's clock shows t.
func (m *Machine) global(t Time) Time {
	if t == Never {
		return t
	}
	if t -= m.Offset; m.Drift == 0 {
		return t
	}
	return t - t/(1e6+Time(m.Drift))*Time(m.Drift) + 1
}

// SetTimer makes the machine call Handler.Timer when its clock shows t. A later time does not undo an earlier one, so
// the call may come before.
func (m *Machine) SetTimer(t Time) {
	t = m.global(t)
	if t < m.timer {
		m.timer = t
		m.world.At(t, &alarm{m, t, m.boots})
	}
}

// An alarm is one setting of a timer. It is void if the timer has been set to an earlier time since.
type alarm struct {
	m    *Machine
	at   Time
	boot int
}

// Act runs the timer of the machine. It does nothing if the machine is off, has been started again or has set its
// timer to another time meanwhile: alarms are not taken out of the queue of events. On a paused machine the timer
// runs when the pause ends.
func (a *alarm) Act() {
	m := a.m
	if m.off || a.boot != m.boots || a.at != m.timer {
		return
	}
	if m.paused > m.world.Now() {
		m.timer = m.paused
		m.world.At(m.paused, &alarm{m, m.paused, m.boots})
		return
	}
	m.timer = Never
	m.Handler.Timer()
}

// deliver gives a packet to the handler. If the machine is paused it keeps the packet, and reports that; if the
// machine is off it drops the packet.
func (m *Machine) deliver(p *packet) (kept bool) {
	switch {
	case m.off:
	case m.paused > m.world.Now():
		if m.held+len(p.bytes) > socketBuffer {
			m.Overflows++
			return false
		}
		m.inbox = append(m.inbox, p)
		m.held += len(p.bytes)
		return true
	default:
		m.Handler.Packet(p.from, p.bytes)
	}
	return false
}

// Pause stops the machine for d, as a garbage collection or SIGSTOP does: packets wait, and timers are late.
func (m *Machine) Pause(d time.Duration) {
	if m.off {
		return
	}
	until := m.world.Now().Add(d)
	if until <= m.paused {
		return
	}
	m.paused = until
	m.world.Logf("%d pauses for %v", m.ID, d)
	m.world.Note('p', uint64(m.ID), uint64(d))
	m.world.At(until, do(m.resume))
}

// Paused reports whether the machine is paused.
func (m *Machine) Paused() bool { return m.paused > m.world.Now() }

// PausedUntil returns when the machine's last pause ends or ended.
func (m *Machine) PausedUntil() Time { return m.paused }

// resume hands over, in order, the packets that came during a pause.
func (m *Machine) resume() {
	if m.off || m.Paused() {
		return
	}
	box := m.inbox
	m.inbox = nil
	m.held = 0
	for _, p := range box {
		m.Handler.Packet(p.from, p.bytes)
	}
}

// Crash switches the machine off. Its handler is gone, and so are the packets that waited for it.
func (m *Machine) Crash() {
	m.world.Logf("%d crashes", m.ID)
	m.world.Note('x', uint64(m.ID))
	m.off = true
	m.inbox = nil
	m.held = 0
	m.timer = Never
	m.Handler = nil
}

// Off reports whether the machine is switched off.
func (m *Machine) Off() bool { return m.off }

// Boot switches the machine on with a new handler.
func (m *Machine) Boot(h Handler) {
	m.world.Logf("%d starts", m.ID)
	m.world.Note('b', uint64(m.ID))
	m.off = false
	m.paused = 0
	m.timer = Never
	m.Handler = h
	m.boots++
}
