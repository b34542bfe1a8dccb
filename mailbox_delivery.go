package weft

import "weft/internal/mailbox"

// A Delivery is a message in a mailbox, or a packet of one, on loan until Release.
type Delivery struct {
	From int
	Tag  uint64 // what PushTagged was given
	Data []byte // where it lies in its ring, unless it lies across the ring's end or was joined

	// Off and Total say what part of its message a packet is; a whole message has 0
	// and its length.
	Off, Total int

	d *delivery
}

// A delivery is what Release needs.
type delivery struct {
	m      *Mailbox
	next   *delivery
	extent mailbox.Extent // nothing if Len is 0
	short  [mailbox.Inline]byte
	buf    []byte // of what was joined; kept for the next
}

// maxKept is the most memory that a delivery keeps for the next message that must be
// joined.
const maxKept = 1 << 20

// Release gives the message's room back, whichever messages are still on loan. Data
// must not be used any more.
func (d *Delivery) Release() {
	e := d.d
	if e == nil {
		return
	}
	d.d, d.Data = nil, nil
	m := e.m
	m.latch.Lock()
	wanted := false
	if !m.closed.Load() {
		if e.extent.Len > 0 {
			m.reader.Release(e.extent)
		}
		wanted = m.box.Wanted()
	}
	m.give(e)
	m.latch.Unlock()
	m.hand(wanted)
}

// Room returns how many bytes of its ring the message occupies until Release: none if
// it travelled in its record, or was joined.
func (d *Delivery) Room() int {
	if d.d == nil {
		return 0
	}
	return roundGrain(d.d.extent.Len)
}

// hand tells senders that want room that there may be some.
func (m *Mailbox) hand(wanted bool) {
	if wanted {
		m.p.node.Room(m.region)
	}
}

// give keeps a delivery for the next message. The latch is held.
func (m *Mailbox) give(e *delivery) {
	e.extent.Len = 0
	if cap(e.buf) > maxKept {
		e.buf = nil
	}
	e.next, m.idle = m.idle, e
}

// get returns a delivery. The latch is held.
func (m *Mailbox) get() *delivery {
	e := m.idle
	if e == nil {
		return &delivery{m: m}
	}
	m.idle = e.next
	e.buf = e.buf[:0]
	return e
}

// take gets the next message, joined, or packet that has arrived, or returns ErrWouldBlock.
// The goroutine is counted as waiting: it was so far if was is 1, and is from now on if
// it goes away empty-handed and will is 1.
func (m *Mailbox) take(d *Delivery, join bool, was, will int) error {
	m.latch.Lock()
	m.inside -= was
	if m.closed.Load() {
		m.latch.Unlock()
		return ErrClosed
	}
	rec, took := &m.rec, false
	for d.d == nil && m.reader.Take(rec) {
		if whole := rec.Off == 0 && rec.Last; whole || !join {
			m.deliver(d, rec)
		} else {
			m.join(d, rec)
		}
		m.reader.Done()
		took = true
	}
	look := false
	if d.d == nil {
		if took { // Release would do it
			m.reader.Settle()
		}
		m.inside += will
	} else {
		look = m.auto.arrived(d.From, len(d.Data))
	}
	wanted := m.box.Wanted()
	m.latch.Unlock()
	m.hand(wanted)
	if look {
		m.adapt()
	}
	if d.d == nil {
		return ErrWouldBlock
	}
	return nil
}

// deliver lends what one record tells of. The latch is held.
func (m *Mailbox) deliver(d *Delivery, rec *mailbox.Record) {
	e := m.get()
	d.From, d.Tag, d.Off, d.Total, d.d = rec.From, rec.Tag, rec.Off, rec.Total, e
	if rec.InRecord {
		d.Data = e.short[:copy(e.short[:], rec.Data)]
		return
	}
	first, second := m.reader.Bytes(rec)
	if len(second) == 0 {
		d.Data, e.extent = first, rec.Extent
		return
	}
	e.buf = append(append(e.buf, first...), second...)
	d.Data = e.buf
	m.reader.Release(rec.Extent)
}

// join adds a packet to its message, and lends the message if it is complete. The latch is
// held.
func (m *Mailbox) join(d *Delivery, rec *mailbox.Record) {
	first, second := m.reader.Bytes(rec)
	if message, ok := m.joiner.Add(rec, first, second, m.spare); ok {
		e := m.get()
		e.buf = message
		d.From, d.Tag, d.Data, d.Off, d.Total, d.d = rec.From, rec.Tag, message, 0, rec.Total, e
	}
	if !rec.InRecord {
		m.reader.Release(rec.Extent)
	}
}

// spare returns the memory of a free delivery, for a message that must be joined. The latch
// is held.
func (m *Mailbox) spare() []byte {
	e := m.get()
	buf := e.buf
	e.buf = nil
	m.give(e)
	return buf
}
