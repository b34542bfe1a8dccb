package weft

import "weft/internal/amt"

// autoRings assigns rings of their own to the senders that currently send most (weft run -amt
// auto). All rings are as long as the shared one, so that the longest message of a sender does
// not depend on its ring.
type autoRings struct {
	policy *amt.Auto
	ring   map[int]int // the rings of senders that have one of their own
	idle   []int       // rings without a sender
	since  int         // messages since the policy was last asked
}

const (
	ownRings  = 7   // besides the shared one
	lookAfter = 512 // messages
)

func newAutoRings() *autoRings {
	a := &autoRings{policy: amt.NewAuto(ownRings), ring: map[int]int{}}
	for i := range ownRings {
		a.idle = append(a.idle, i+1)
	}
	return a
}

// arrived counts a message, and reports whether it is time to ask the policy. The mailbox's latch
// is held.
func (a *autoRings) arrived(from, n int) bool {
	if a == nil {
		return false
	}
	a.policy.Arrived(from, n)
	a.since++
	return a.since >= lookAfter
}

// adapt assigns rings as the policy decides. It never waits: if rings are being changed it leaves
// the work for the next time.
func (m *Mailbox) adapt() {
	if !m.rings.TryLock() {
		return
	}
	defer m.rings.Unlock()
	m.latch.Lock()
	defer m.latch.Unlock()
	if m.closed.Load() {
		return
	}
	a := m.auto
	a.since = 0
	for _, c := range a.policy.Decide() {
		if !c.Own {
			m.box.SetRing(c.Sender, 0)
			a.idle = append(a.idle, a.ring[c.Sender])
			delete(a.ring, c.Sender)
			continue
		}
		last := len(a.idle) - 1
		a.ring[c.Sender], a.idle = a.idle[last], a.idle[:last]
		m.box.SetRing(c.Sender, a.ring[c.Sender])
	}
}
