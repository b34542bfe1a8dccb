package inbox

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

// OwnRings is how many rings besides the shared one a mailbox has whose rings are assigned while the job runs.
const OwnRings = 7

// LookAfter is after how many messages the assignment of rings is looked at.
const LookAfter = 512

func newAutoRings() *autoRings {
	a := &autoRings{policy: amt.NewAuto(OwnRings), ring: map[int]int{}}
	for i := range OwnRings {
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
	return a.since >= LookAfter
}

// adapt assigns rings as the policy decides. It never waits: if rings are being changed it leaves
// the work for the next time.
func (m *Inbox) adapt() {
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
