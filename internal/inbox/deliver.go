package inbox

import (
	"weft/failure"
	"weft/internal/mailbox"
	"weft/internal/sys"
	"weft/internal/timeline"
)

// A Delivery is a message in a mailbox, or a packet of one. Its Data is on loan until Release.
type Delivery struct {
	From int
	Tag  uint64 // the number that PushTagged was given, or 0
	Data []byte // lies in the ring, or is a copy if the message was joined or wraps around the ring's end

	// Off and Total tell which part of its message a packet is, in bytes. For a whole message
	// they are 0 and its length.
	Off, Total int

	Loan Loan
}

// A Loan is what Release gives back: the memory of a message. The zero Loan is of nothing.
type Loan struct{ e *loaned }

type loaned struct {
	m      *Inbox
	next   *loaned
	extent mailbox.Extent // nothing if Len is 0
	short  [mailbox.Inline]byte
	buf    []byte // memory for joined messages; it is kept for the next one
}

// maxKept bounds the memory, in bytes, that a delivery keeps for the next message that must be
// joined.
const maxKept = 1 << 20

// Release gives the message's room in its ring back. Messages can be released in any order. Releasing a Loan again does
// nothing.
func (l *Loan) Release() {
	e := l.e
	if e == nil {
		return
	}
	l.e = nil
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

// Room returns how many bytes of its ring the message occupies until Release: 0 if it lies in its
// record, or was joined.
func (l *Loan) Room() int {
	if l.e == nil {
		return 0
	}
	return mailbox.RoundUp(l.e.extent.Len)
}

// hand tells senders that wait for room that there may be some.
func (m *Inbox) hand(wanted bool) {
	if wanted {
		m.host.Node.Room(m.region)
	}
}

// give keeps a delivery for the next message. The latch is held.
func (m *Inbox) give(e *loaned) {
	e.extent.Len = 0
	if cap(e.buf) > maxKept {
		e.buf = nil
	}
	e.next, m.idle = m.idle, e
}

// get returns a delivery. The latch is held.
func (m *Inbox) get() *loaned {
	e := m.idle
	if e == nil {
		return &loaned{m: m}
	}
	m.idle = e.next
	e.buf = e.buf[:0]
	return e
}

// take returns in d the next message that has arrived, or the next packet unless join is set. It looks so many times
// for a record, since to give the latch up and take it again costs a short message a tenth of its time.
// If there is none, ok is false. M.inside counts the goroutines that wait: was is 1 if the caller is counted, and will
// is 1 if it is to be counted when ok is false.
func (m *Inbox) take(d *Delivery, join bool, looks, was, will int) (ok bool, err error) {
	m.latch.Lock()
	m.inside -= was
	if m.closed.Load() {
		m.latch.Unlock()
		return false, failure.ErrClosed
	}
	rec := &m.rec
	took := false
	for d.Loan.e == nil {
		if !m.reader.Take(rec) {
			if looks--; looks <= 0 || took {
				break
			}
			sys.Relax(looks)
			continue
		}
		if whole := rec.Off == 0 && rec.Last; whole || !join {
			m.deliver(d, rec)
		} else {
			m.join(d, rec)
		}
		m.reader.Done()
		took = true
	}
	id := uint64(0)
	if d.Loan.e == nil {
		if took { // no Release follows that would do it
			m.reader.Settle()
		}
		m.inside += will
	} else if m.host.Timeline != nil {
		id = m.mailID(rec)
	}
	wanted := m.box.Wanted()
	m.latch.Unlock()
	m.hand(wanted)
	if d.Loan.e == nil {
		return false, nil
	}
	if m.host.Timeline != nil {
		m.host.Timeline.Note(timeline.Moment, timeline.Deliver, id, d.From, len(d.Data), nil)
	}
	return true, nil
}

// deliver lends the message or packet of one record. The latch is held.
func (m *Inbox) deliver(d *Delivery, rec *mailbox.Record) {
	e := m.get()
	d.From = rec.From
	d.Tag = rec.Tag
	d.Off = rec.Off
	d.Total = rec.Total
	d.Loan.e = e
	if rec.InRecord {
		d.Data = e.short[:copy(e.short[:], rec.Data)]
		return
	}
	first, second := m.reader.Bytes(rec)
	if len(second) == 0 {
		d.Data = first
		e.extent = rec.Extent
		return
	}
	e.buf = append(append(e.buf, first...), second...)
	d.Data = e.buf
	m.reader.Release(rec.Extent)
}

// join adds a packet to its message, and lends the message if it is complete. The latch is
// held.
func (m *Inbox) join(d *Delivery, rec *mailbox.Record) {
	first, second := m.reader.Bytes(rec)
	if message, ok := m.joiner.Add(rec, first, second, m.spare); ok {
		e := m.get()
		e.buf = message
		d.From = rec.From
		d.Tag = rec.Tag
		d.Data = message
		d.Off = 0
		d.Total = rec.Total
		d.Loan.e = e
	}
	if !rec.InRecord {
		m.reader.Release(rec.Extent)
	}
}

// spare returns the memory of a free delivery, for a message that must be joined. The latch
// is held.
func (m *Inbox) spare() []byte {
	e := m.get()
	buf := e.buf
	e.buf = nil
	m.give(e)
	return buf
}

// mailID returns the number of the message that a record completes, or 0.
func (m *Inbox) mailID(rec *mailbox.Record) uint64 {
	if !rec.Last {
		return 0
	}
	return timeline.MailID(m.host.Rank, m.region.ID, rec.Ticket)
}
