package inbox

import (
	"context"
	"fmt"
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
	return m.box.Room - m.room.Free(), len(m.whole.Bytes)
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
		base, ok := m.room.Take(mailbox.RoundUp(size))
		if !ok {
			return mailbox.NoRing, failure.ErrNoRoom
		}
		m.place(i, base, mailbox.RoundUp(size))
		return i, nil
	}
	return mailbox.NoRing, failure.ErrNoRoom
}

// ResizeRing changes the size of a ring, in bytes. Size 0 takes its memory back, so that its number
// can be used for another ring. ResizeRing waits until all messages in the ring have been
// released, which another goroutine must do; the ring's senders wait, too. If ctx ends first,
// or there is no memory, the ring stays as it was.
func (m *Inbox) ResizeRing(ctx context.Context, ring, size int) error {
	m.rings.Lock()
	defer m.rings.Unlock()
	if m.closed.Load() {
		return failure.ErrClosed
	}
	if err := m.checkRing(ring); err != nil || ring == mailbox.NoRing {
		return err
	}
	if size < 0 || size > m.box.Room {
		return &failure.ConfigError{Field: "size of a ring", Value: size, Min: 0, Max: m.box.Room}
	}
	if size == 0 && m.box.Shared(ring) > 0 {
		return fmt.Errorf("weft: ring %d is assigned to %d senders: assign another ring to them first: %w",
			ring, m.box.Shared(ring), failure.ErrInUse)
	}
	m.box.Shut(ring)
	err := m.host.Node.Poll(ctx, func() bool { return m.closed.Load() || m.box.Drained(ring) })
	if err == nil && m.closed.Load() {
		return failure.ErrClosed
	}
	if err != nil {
		m.box.Unshut(ring)
		m.hand(true)
		return err
	}
	base, old := m.box.Where(ring)
	m.room.Give(base, old)
	newBase, ok := m.room.Take(mailbox.RoundUp(size))
	if !ok {
		m.room.TakeAt(base, old)
		m.box.Unshut(ring)
		err = failure.ErrNoRoom
	} else {
		m.place(ring, newBase, mailbox.RoundUp(size))
	}
	m.hand(true)
	return err
}

// place gives memory to a ring that is shut and drained. The reader forgets what it knew of the
// ring.
func (m *Inbox) place(ring, base, size int) {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.reader.Placed(ring)
	m.box.Place(ring, base, size)
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
