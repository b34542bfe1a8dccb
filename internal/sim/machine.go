package sim

import "time"

// A Guest is what runs on a machine. Times that it is told are those of the
// machine's own clock.
type Guest interface {
	// Packet takes what has arrived. From is the machine that sent it. The
	// packet is borrowed.
	Packet(from int, b []byte)

	// Timer is called when the time that SetTimer named has come.
	Timer()
}

// A Machine is one computer of the cluster.
type Machine struct {
	ID    int
	Guest Guest
	Drift int64 // its clock gains so many parts per million
	Roomy bool  // what arrives while it is paused is never lost: the senders' host keeps it

	world  *World
	paused Time // until then it does nothing
	off    bool
	boots  int // times it was switched on; events of earlier ones are void
	timer  Time
	inbox  []*packet
	held   int // bytes in inbox

	// Overflows counts packets that came while the machine was paused and
	// found the socket's buffer full.
	Overflows uint64
}

// socketBuffer is how many bytes wait for a machine that is paused.
const socketBuffer = 1 << 20

// Now returns the time of the machine's clock.
func (m *Machine) Now() Time {
	t := m.world.now
	return t + t/1e6*Time(m.Drift)
}

// world returns when the machine's clock will show t.
func (m *Machine) global(t Time) Time {
	if t == Never || m.Drift == 0 {
		return t
	}
	return t - t/(1e6+Time(m.Drift))*Time(m.Drift) + 1
}

// SetTimer makes the machine call Guest.Timer when its clock shows t, and perhaps
// before: an earlier setting is not undone.
func (m *Machine) SetTimer(t Time) {
	t = m.global(t)
	if t < m.timer {
		m.timer = t
		m.world.At(t, &alarm{m, t, m.boots})
	}
}

// An alarm is one setting of a timer. It is void if the timer was set anew.
type alarm struct {
	m    *Machine
	at   Time
	boot int
}

func (a *alarm) Act() {
	m := a.m
	if m.off || a.boot != m.boots || a.at != m.timer {
		return
	}
	if m.paused > m.world.now {
		m.timer = m.paused
		m.world.At(m.paused, &alarm{m, m.paused, m.boots})
		return
	}
	m.timer = Never
	m.Guest.Timer()
}

// deliver hands a packet to the guest, keeps it if the machine is paused, and
// forgets it if it is off.
func (m *Machine) deliver(p *packet) (kept bool) {
	switch {
	case m.off:
	case m.paused > m.world.now:
		if m.held+len(p.bytes) > socketBuffer && !m.Roomy {
			m.Overflows++
			return false
		}
		m.inbox = append(m.inbox, p)
		m.held += len(p.bytes)
		return true
	default:
		m.Guest.Packet(p.from, p.bytes)
	}
	return false
}

// Pause stops the machine for d, as a garbage collection or SIGSTOP does: what
// arrives waits, and timers are late.
func (m *Machine) Pause(d time.Duration) {
	if m.off {
		return
	}
	until := m.world.now.Add(d)
	if until <= m.paused {
		return
	}
	m.paused = until
	m.world.Logf("%d pauses for %v", m.ID, d)
	m.world.Note('p', uint64(m.ID), uint64(d))
	m.world.At(until, do(m.resume))
}

// Paused reports whether the machine is paused.
func (m *Machine) Paused() bool { return m.paused > m.world.now }

// PausedUntil returns when the machine's last pause ends, or has ended.
func (m *Machine) PausedUntil() Time { return m.paused }

func (m *Machine) resume() {
	if m.off || m.Paused() {
		return
	}
	box := m.inbox
	m.inbox, m.held = nil, 0
	for _, p := range box {
		m.Guest.Packet(p.from, p.bytes)
	}
}

// Crash switches the machine off: the guest is gone.
func (m *Machine) Crash() {
	m.world.Logf("%d crashes", m.ID)
	m.world.Note('x', uint64(m.ID))
	m.off, m.inbox, m.held, m.timer, m.Guest = true, nil, 0, Never, nil
}

// Off reports whether the machine is switched off.
func (m *Machine) Off() bool { return m.off }

// Boot switches the machine on with a new guest.
func (m *Machine) Boot(g Guest) {
	m.world.Logf("%d starts", m.ID)
	m.world.Note('b', uint64(m.ID))
	m.off, m.paused, m.timer, m.Guest = false, 0, Never, g
	m.boots++
}
