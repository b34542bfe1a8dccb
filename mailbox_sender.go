package weft

import (
	"context"
	"fmt"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/timeline"
)

// A Status says for what a mailbox gets a status record.
type Status uint8

const (
	// StatusAuto means one record for each message if the sender has a ring of its own, else
	// one for each packet.
	StatusAuto = Status(mailbox.Auto)
	// StatusPerMessage means one record for each message. In a ring that several senders share
	// it fails with ErrShared.
	StatusPerMessage = Status(mailbox.PerMessage)
	// StatusPerPacket means one record for each packet, so that the receiver can begin before
	// the whole message has arrived; see Mailbox.NextPacket.
	StatusPerPacket = Status(mailbox.PerPacket)
)

// A Sender puts messages into a mailbox of another rank, or of this one. Any number of goroutines
// may use it. The messages of one goroutine arrive in order.
type Sender struct {
	p      *Proc
	rank   int
	name   string
	found  rma.Found
	peer   *driver.Peer
	way    *way
	entry  uint16
	status mailbox.Mode
}

// AttachMailbox reaches the mailbox that a rank has opened under a name. It waits until the
// rank has opened it. The Sender holds nothing that must be given back.
func (p *Proc) AttachMailbox(ctx context.Context, rank int, name string) (*Sender, error) {
	if err := checkMailboxName(name); err != nil {
		return nil, err
	}
	r, err := p.attach(ctx, rank, mailboxName(name))
	if err != nil {
		return nil, waited(err, fmt.Sprintf("mailbox %q of rank %d", name, rank), "the rank has not said that it has it")
	}
	s := &Sender{p: p, rank: rank, name: name, found: r.found, peer: r.peer, entry: wire.NoEntry}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	id := wayID{rank, r.found.Region}
	if s.way = p.ways[id]; s.way == nil {
		p.forgetWays()
		s.way = newWay(p, r)
		p.ways[id] = s.way
	}
	return s, nil
}

// WithRing returns a Sender to the same mailbox whose messages go to the ring of this
// number, instead of the ring that the receiver's table gives to this rank. Such a ring
// counts as shared.
func (s *Sender) WithRing(ring int) *Sender {
	t := *s
	t.entry = uint16(min(max(ring, 0), wire.NoEntry-1))
	return &t
}

// WithStatus returns a Sender to the same mailbox with another kind of status record.
func (s *Sender) WithStatus(status Status) *Sender {
	t := *s
	t.status = mailbox.Mode(status)
	return &t
}

// Rank returns the rank that has the mailbox.
func (s *Sender) Rank() int { return s.rank }

// Direct reports whether this process has mapped the mailbox: then messages need no packets and
// no help from the rank that has it.
func (s *Sender) Direct() bool { return s.way.box != nil }

// Push puts a message into the mailbox. It returns when the message is there and b may be used
// again. If the mailbox is full it waits for room.
func (s *Sender) Push(ctx context.Context, b []byte) error { return s.PushTagged(ctx, 0, b) }

// PushTagged is Push with a number that arrives with the message (Delivery.Tag).
func (s *Sender) PushTagged(ctx context.Context, tag uint64, b []byte) error {
	s.p.count(s.rank, amt.IPush, len(b))
	began := s.markPush(len(b))
	sent, o := s.direct(began, tag, b, 0)
	if o == mailbox.Full && began == timeline.Moment {
		began = s.p.timeline.Mark()
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
	err = public(s.p.node.Wait(ctx, c))
	s.way.ended(number, err)
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
	ok, err := s.p.node.Spin(ctx, func() bool { return w.line.HasRoom(s.ring(), s.status, b, sent) || !s.open() })
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
		s.p.node.Knock(s.rank, s.found.Region)
	}
	if o == mailbox.Done && s.p.timeline != nil {
		s.notePush(began, ticket, len(b))
	}
	if o != mailbox.Done && w.mapped.Gone() { // the outcome was read from memory of something else
		return from, mailbox.Full
	}
	return sent, o
}

func (s *Sender) ring() int {
	if s.entry == wire.NoEntry {
		return NoRing
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
	number = s.way.depart(sent, func() { s.p.node.Begin(c) })
	return c, number, nil
}

// refused returns the error of an outcome that is final, or nil.
func (s *Sender) refused(o mailbox.Outcome, b []byte) error {
	var err error
	switch o {
	case mailbox.NoEntry:
		err = ErrNoEntry
	case mailbox.TooLong:
		err = ErrTooLong
	case mailbox.IsShared:
		err = ErrShared
	default:
		return nil
	}
	return &MailboxError{Rank: s.rank, Len: len(b), Err: err}
}

// StartPushTagged begins a PushTagged, and returns without waiting. B must not be changed until the
// Op has ended. Messages arrive in the order in which they were started.
func (s *Sender) StartPushTagged(tag uint64, b []byte) (*Op, error) {
	s.p.count(s.rank, amt.IPush, len(b))
	o := ops.Get().(*Op)
	*o = Op{node: s.p.node}
	sent, out := s.direct(s.markPush(len(b)), tag, b, 0)
	if out == mailbox.Done {
		return o, nil
	}
	c, number, err := s.begin(tag, b, sent, out)
	if err != nil {
		return nil, err
	}
	o.call = c
	o.way = s.way
	o.number = number
	return o, nil
}
