package weft

import (
	"context"
	"fmt"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/inbox"
	"weft/internal/mailbox"
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
	p  *Proc
	in inbox.Sender
}

// AttachMailbox reaches the mailbox that a rank has opened under a name. It waits until the
// rank has opened it. The Sender holds nothing that must be given back.
func (p *Proc) AttachMailbox(ctx context.Context, rank int, name string) (*Sender, error) {
	if err := checkMailboxName(name); err != nil {
		return nil, err
	}
	r, err := p.attach(ctx, rank, mailboxName(name))
	if err != nil {
		return nil, failure.Waited(err, fmt.Sprintf("mailbox %q of rank %d", name, rank),
			"the rank has not said that it has it")
	}
	in, err := p.ways.Attach(r.peer, name, r.found, r.direct)
	if err != nil {
		return nil, err
	}
	return &Sender{p, in}, nil
}

// WithRing returns a Sender to the same mailbox whose messages go to the ring of this
// number, instead of the ring that the receiver's table gives to this rank. Such a ring
// counts as shared.
func (s *Sender) WithRing(ring int) *Sender { return &Sender{s.p, s.in.WithRing(ring)} }

// WithStatus returns a Sender to the same mailbox with another kind of status record.
func (s *Sender) WithStatus(status Status) *Sender {
	return &Sender{s.p, s.in.WithStatus(mailbox.Mode(status))}
}

// Rank returns the rank that has the mailbox.
func (s *Sender) Rank() int { return s.in.Rank() }

// Direct reports whether this process has mapped the mailbox: then messages need no packets and
// no help from the rank that has it.
func (s *Sender) Direct() bool { return s.in.Direct() }

// Push puts a message into the mailbox. It returns when the message is there and b may be used
// again. If the mailbox is full it waits for room.
func (s *Sender) Push(ctx context.Context, b []byte) error { return s.PushTagged(ctx, 0, b) }

// PushTagged is Push with a number that arrives with the message (Delivery.Tag).
func (s *Sender) PushTagged(ctx context.Context, tag uint64, b []byte) error {
	s.p.count(s.in.Rank(), amt.IPush, len(b))
	return s.in.Push(ctx, tag, b)
}

// StartPushTagged begins a PushTagged, and returns without waiting. B must not be changed until the
// Op has ended. Messages arrive in the order in which they were started.
func (s *Sender) StartPushTagged(tag uint64, b []byte) (*Op, error) {
	s.p.count(s.in.Rank(), amt.IPush, len(b))
	c, number, err := s.in.Start(tag, b)
	if err != nil {
		return nil, err
	}
	o := newOp()
	*o = Op{node: s.p.node, call: c, way: s.in.Way(), number: number}
	return o, nil
}
