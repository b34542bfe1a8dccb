package inbox

import (
	"os"
	"time"

	"weft/failure"
	"weft/internal/mailbox"
	"weft/internal/sys"
)

// A Ring describes a ring of a mailbox.
type Ring struct {
	Size    int // bytes; 0 if it has no memory
	Senders int // ranks that the table assigns to it
	Used    int // bytes that hold messages which have not been released
}

// Rings returns the rings of the mailbox, by their numbers (the AMT).
func (m *Inbox) Rings() []Ring {
	m.rings.Lock()
	defer m.rings.Unlock()
	if m.closed.Load() {
		return nil
	}
	m.recover()
	var rings []Ring
	_, used := m.box.Reserved()
	for i := range m.box.Geometry.Rings {
		_, size := m.box.Where(i)
		rings = append(rings, Ring{size, m.box.Shared(i), used[i]})
	}
	for len(rings) > 0 && rings[len(rings)-1].Size == 0 {
		rings = rings[:len(rings)-1]
	}
	return rings
}

// RingOf returns the number of the ring that the table assigns to a sender, or mailbox.NoRing.
func (m *Inbox) RingOf(rank int) int {
	m.rings.Lock()
	defer m.rings.Unlock()
	if m.closed.Load() {
		return mailbox.NoRing
	}
	return m.box.RingOf(rank)
}

// Bytes returns how many bytes of memory the rings have, and how many the mailbox has in all.
func (m *Inbox) Bytes() (rings, all int) {
	m.rings.Lock()
	defer m.rings.Unlock()
	return m.used, len(m.whole.Bytes)
}

// fill sets the table for the first time.
func (m *Inbox) fill(table map[int]int) error {
	for rank := range m.host.Size {
		ring := table[rank] // 0 if it is not there
		if err := m.checkRing(ring); err != nil {
			return err
		}
		m.box.SetRing(rank, ring)
	}
	return nil
}

func (m *Inbox) checkRing(ring int) error {
	if ring == mailbox.NoRing {
		return nil
	}
	if ring >= 0 && ring < m.box.Geometry.Rings {
		if _, size := m.box.Where(ring); size > 0 {
			return nil
		}
	}
	n := 0
	for i := range m.box.Geometry.Rings {
		if _, size := m.box.Where(i); size > 0 {
			n = i + 1
		}
	}
	return &failure.RingError{Ring: ring, Rings: n}
}

// SetRing assigns a ring to a sender, alone or together with the senders that have it already.
// mailbox.NoRing refuses the sender from now on. Messages that are on their way are not lost: each
// goes to the ring that its sender had when it began.
func (m *Inbox) SetRing(rank, ring int) error {
	m.rings.Lock()
	defer m.rings.Unlock()
	if m.closed.Load() {
		return failure.ErrClosed
	}
	if err := m.checkRing(ring); err != nil {
		return err
	}
	m.box.SetRing(rank, ring)
	m.hand(true)
	return nil
}

// NewRing makes a ring of size bytes, rounded up to a multiple of 64, and returns its number. If
// the mailbox has no memory left for it the error is ErrNoRoom.
func (m *Inbox) NewRing(size int) (ring int, err error) {
	m.rings.Lock()
	defer m.rings.Unlock()
	if m.closed.Load() {
		return mailbox.NoRing, failure.ErrClosed
	}
	if size < 1 || size > m.box.Room {
		return mailbox.NoRing, &failure.ConfigError{Field: "size of a ring", Value: size, Min: 1, Max: m.box.Room}
	}
	for i := range m.box.Geometry.Rings {
		if _, old := m.box.Where(i); old != 0 {
			continue
		}
		if size = mailbox.RoundUp(size); m.used+size > m.box.Room {
			break
		}
		m.latch.Lock()
		m.box.Place(i, m.used, size)
		m.latch.Unlock()
		m.used += size
		return i, nil
	}
	return mailbox.NoRing, failure.ErrNoRoom
}

// recover gives back the room that senders had reserved when they were killed. It reports whether
// nothing is left to be recovered.
func (m *Inbox) recover() bool {
	gone := false
	m.box.Senders(func(rank int) { gone = gone || m.host.Node.Gone(rank) != nil })
	if !gone {
		return true
	}
	ok := m.host.Node.Recover(m.region, func(open []*mailbox.Arrival) bool {
		m.latch.Lock()
		defer m.latch.Unlock()
		if m.closed.Load() {
			return true
		}
		return m.reader.Recover(func(rank, pid int, busy bool) bool {
			return m.host.Node.GoneLocked(rank) != nil && (!busy || !sys.Alive(pid))
		}, open)
	})
	m.hand(true)
	return ok
}

// retryRecover is the time after which a recovery that was not possible is tried again.
const retryRecover = time.Millisecond

// pid is the number of this process, which marks its lines in the mailboxes of other ranks.
var pid = os.Getpid()
