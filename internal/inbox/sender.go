package inbox

import (
	"context"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/timeline"
)

// A Sender puts messages into a mailbox. Any number of goroutines may use it. The messages of one goroutine arrive in
// order.
type Sender struct {
	host   *Host
	rank   int
	name   string // of the mailbox
	found  rma.Found
	peer   *driver.Peer
	way    *Way
	entry  uint16
	status mailbox.Mode
}

// WithRing returns a Sender to the same mailbox whose messages go to the ring of this number.
func (s Sender) WithRing(ring int) Sender {
	s.entry = uint16(ring)
	if ring < 0 || ring >= wire.NoEntry {
		s.entry = wire.NoEntry - 1 // no mailbox has so many
	}
	return s
}

// WithStatus returns a Sender to the same mailbox with another kind of status record.
func (s Sender) WithStatus(status mailbox.Mode) Sender {
	s.status = status
	return s
}

// Rank returns the rank that has the mailbox.
func (s *Sender) Rank() int { return s.rank }

// Direct reports whether this process has mapped the mailbox.
func (s *Sender) Direct() bool { return s.way.box != nil }

// Way returns what the Sender has in common with all others to the mailbox.
func (s *Sender) Way() *Way { return s.way }

// Push puts a message with a tag into the mailbox. It returns when the message is there and b may be used
// again. If the mailbox is full it waits for room.
func (s *Sender) Push(ctx context.Context, tag uint64, b []byte) error {
	began := s.mark(len(b))
	sent, o := s.direct(began, tag, b, 0)
	if o == mailbox.Full && began == timeline.Moment {
		began = s.host.Timeline.Mark()
	}
	for o == mailbox.Full && s.waits(ctx, b, sent) {
		sent, o = s.direct(began, tag, b, sent)
	}
	if o == mailbox.Done {
		return nil
	}
	c, number, err := s.begin(tag, b, sent, o)
	if err != nil {
		return err
	}
	err = s.host.Node.Wait(ctx, c)
	s.way.Ended(number, err)
	c.Free()
	return err
}

// waits polls for room in mapped memory, for as long as any wait polls, and reports whether there
// is some. Longer waits take place in the receiver's engine.
func (s *Sender) waits(ctx context.Context, b []byte, sent int) bool {
	w := s.way
	if !s.open() {
		return false
	}
	ok, err := s.host.Node.Spin(ctx, func() bool { return w.line.HasRoom(s.ring(), s.status, b, sent) || !s.open() })
	return ok && err == nil && s.open()
}

// open reports whether messages can go through mapped memory now.
func (s *Sender) open() bool {
	w := s.way
	return w.box != nil && w.packets.Load() == 0 && s.peer.Left() == nil && !driver.Withdrawn(w.mapped)
}

// direct writes a message, from a byte on, into mapped memory. It returns Full if that is not
// possible now, and Done if the message lies in the mailbox. Done counts even if the memory
// is taken back at that moment, because the message may have been received. Memory that was
// taken back before has no rings. The timeline, if there is one, shows the push from the mark
// began on.
func (s *Sender) direct(began int64, tag uint64, b []byte, from int) (sent int, o mailbox.Outcome) {
	w := s.way
	if !s.open() {
		return from, mailbox.Full
	}
	sent, ticket, o := w.line.Push(s.ring(), s.status, tag, b, from)
	if o == mailbox.Done && w.box.Knock() {
		s.host.Node.Knock(s.rank, s.found.Region)
	}
	if o == mailbox.Done && s.host.Timeline != nil {
		s.note(began, ticket, len(b))
	}
	if o != mailbox.Done && w.mapped.Gone() { // the outcome was read from memory of something else
		return from, mailbox.Full
	}
	return sent, o
}

func (s *Sender) ring() int {
	if s.entry == wire.NoEntry {
		return mailbox.NoRing
	}
	return int(s.entry)
}

// begin sends in packets the part of a message, from byte sent on, that could not be written. The
// receiver's engine stops the sender (ISTOP) while there is no room, and tells it when to go
// on (IGO).
func (s *Sender) begin(tag uint64, b []byte, sent int, o mailbox.Outcome) (c *driver.Call, number uint64, err error) {
	if err := s.refused(o, b); err != nil {
		return nil, 0, err
	}
	c = driver.NewCall()
	op := &c.RMA
	op.Kind = rma.IPush
	op.Peer = s.rank
	op.Name = s.name
	op.Region = s.found.Region
	op.Key = s.found.Key
	op.Off = uint64(sent)
	op.Buf = b
	op.A = tag
	op.Entry = s.entry
	op.Mode = uint8(s.status)
	number = s.way.depart(sent, func() { s.host.Node.Begin(c) })
	return c, number, nil
}

// refused returns the error of an outcome that is final, or nil.
func (s *Sender) refused(o mailbox.Outcome, b []byte) error {
	var err error
	switch o {
	case mailbox.NoEntry:
		err = failure.ErrNoEntry
	case mailbox.TooLong:
		err = failure.ErrTooLong
	case mailbox.IsShared:
		err = failure.ErrShared
	default:
		return nil
	}
	return &failure.MailboxError{Rank: s.rank, Len: len(b), Err: err}
}

// Start begins a Push, and returns without waiting. If the call is nil the message lies in the mailbox. Else its
// end is told to the Way, with the number.
func (s *Sender) Start(tag uint64, b []byte) (c *driver.Call, number uint64, err error) {
	sent, o := s.direct(s.mark(len(b)), tag, b, 0)
	if o == mailbox.Done {
		return nil, 0, nil
	}
	return s.begin(tag, b, sent, o)
}

// A message to a mailbox is known by the ticket of its last record. A sender that maps the mailbox
// takes the ticket itself. The answer to a message that went in packets brings it.

// mark reads the clock of the timeline before a push of so many bytes, if it is worth it: a short
// message that finds room is a moment.
func (s *Sender) mark(size int) int64 {
	if size < timeline.LeastNoted {
		return timeline.Moment
	}
	return s.host.Timeline.Mark()
}

// note records a message that this process has written into the mapped mailbox. The caller has
// checked that there is a timeline.
func (s *Sender) note(began int64, ticket uint32, size int) {
	s.host.Timeline.Note(began, timeline.IPush, timeline.MailID(s.rank, s.found.Region, ticket), s.rank, size, nil)
}
