package weft

// A Ring describes a ring of a mailbox.
type Ring struct {
	Size    int // bytes; 0 if it has no memory
	Senders int // ranks that the table assigns to it
	Used    int // bytes that hold messages which have not been released
}

// Rings returns the rings of the mailbox, by their numbers (the AMT).
func (m *Mailbox) Rings() []Ring {
	var rings []Ring
	for _, r := range m.in.Rings() {
		rings = append(rings, Ring(r))
	}
	return rings
}

// RingOf returns the number of the ring that the table assigns to a sender, or NoRing.
func (m *Mailbox) RingOf(rank int) int {
	return m.in.RingOf(rank)
}

// SetRing assigns a ring to a sender, alone or together with the senders that have it already.
// NoRing refuses the sender from now on. Messages that are on their way are not lost: each
// goes to the ring that its sender had when it began.
func (m *Mailbox) SetRing(rank, ring int) error {
	if err := m.p.check(rank); err != nil {
		return err
	}
	return m.in.SetRing(rank, ring)
}

// NewRing makes a ring of size bytes, rounded up to a multiple of 64, and returns its number. If
// the mailbox has no memory left for it the error is ErrNoRoom; see MailboxConfig.Spare.
func (m *Mailbox) NewRing(size int) (ring int, err error) {
	return m.in.NewRing(size)
}
