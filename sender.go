package weft

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// A Status says for what a mailbox gets a status record.
type Status uint8

const (
	// StatusAuto: one record for each message if the sender has a ring of its own, else
	// one for each packet.
	StatusAuto = Status(mailbox.Auto)
	// StatusPerMessage: one record for each message. In a ring that several senders share
	// it fails with ErrShared.
	StatusPerMessage = Status(mailbox.PerMessage)
	// StatusPerPacket: one record for each packet, so that the receiver can begin before
	// the whole message has arrived; see Mailbox.NextPacket.
	StatusPerPacket = Status(mailbox.PerPacket)
)

// A Sender puts messages into the mailbox of a rank. Any number of goroutines may use
// it; the messages of one arrive in order.
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

// A way is what all Senders of a process to one mailbox have in common.
type way struct {
	box     *mailbox.Box    // the mailbox, mapped here; or nil
	line    *mailbox.Writer // how it is written to
	mapped  *transport.Mapping
	packets atomic.Int32 // messages that left in packets, which others must not overtake; the line counts them too

	mu    sync.Mutex // held while a message leaves in packets: their numbers are in the order of the stream
	begun uint64     // the number of the last
	lost  int        // messages that were given up, and may arrive yet
	last  uint64     // the number of the last of these
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

// forgetWays drops the ways to mailboxes whose memory has been taken back, each time
// that there are twice as many ways as were left. p.mu is held.
func (p *Proc) forgetWays() {
	const few = 64
	if len(p.ways) < max(p.sweep, few) {
		return
	}
	for id, w := range p.ways {
		if w.mapped != nil && w.mapped.Gone() {
			delete(p.ways, id)
		}
	}
	p.sweep = 2 * len(p.ways)
}

type wayID struct {
	rank   int
	region uint32
}

// newWay looks for the way through mapped memory.
func newWay(p *Proc, r *Remote) *way {
	w := &way{}
	if r.direct == nil || r.direct.ReadOnly {
		return w
	}
	box, err := mailbox.At(r.direct.Bytes[:len(r.direct.Bytes)-8])
	if err != nil {
		return w
	}
	line, ok := box.Join(p.job.Rank, pid)
	if !ok {
		return w
	}
	w.box, w.line, w.mapped = box, line, r.direct
	return w
}

// depart lets a message leave in packets, from a byte on, and returns its number. It
// waits while another goroutine has written one in part, which it does not do for long.
func (w *way) depart(from int, begin func()) (number uint64) {
	for {
		w.mu.Lock()
		if w.line == nil || w.line.Depart(from) {
			break
		}
		w.mu.Unlock()
		runtime.Gosched()
	}
	defer w.mu.Unlock()
	w.packets.Add(1)
	w.begun++
	begin()
	return w.begun
}

// ended counts a message that left in packets, when it has arrived or comes to nothing.
// What comes after one that was given up leaves the same way, until one that began after
// it is known to have arrived: the stream keeps the order.
func (w *way) ended(number uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.lost++
		w.last = max(w.last, number)
		return
	}
	n := 1
	if number > w.last {
		n += w.lost
		w.lost = 0
	}
	if w.line != nil {
		w.line.Arrived(n)
	}
	w.packets.Add(int32(-n))
}

// leave gives the line back.
func (w *way) leave() {
	if w.line != nil {
		w.line.Leave()
	}
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

// Rank returns the rank whose mailbox it is.
func (s *Sender) Rank() int { return s.rank }

// Direct reports whether messages reach the mailbox without the rank's help.
func (s *Sender) Direct() bool { return s.way.box != nil }

// Push puts a message into the mailbox. It returns when it is there, and b may be
// used again; if the mailbox is full it waits.
func (s *Sender) Push(ctx context.Context, b []byte) error { return s.PushTagged(ctx, 0, b) }

// PushTagged is Push with a number that comes with the message.
func (s *Sender) PushTagged(ctx context.Context, tag uint64, b []byte) error {
	s.p.count(s.rank, amt.IPush, len(b))
	began := s.p.mark()
	sent, o := s.direct(tag, b, 0)
	for o == mailbox.Full && s.waits(ctx, b, sent) {
		sent, o = s.direct(tag, b, sent)
	}
	if o == mailbox.Done {
		if s.p.timeline != nil {
			s.p.note(began, timeline.IPush, 0, s.rank, len(b), nil)
		}
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

// waits waits for room in mapped memory for as long as any wait polls, and reports
// whether there is some. Who waits for longer does so in the receiver's engine.
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

// direct writes to mapped memory, from a byte on, if that can be done now: else it is
// Full. A message that is Done lies in the mailbox, also if the memory is taken back just
// then: it may have been received. Memory that was taken back before has no rings.
func (s *Sender) direct(tag uint64, b []byte, from int) (sent int, o mailbox.Outcome) {
	w := s.way
	if !s.open() {
		return from, mailbox.Full
	}
	if sent, o = w.line.Push(s.ring(), s.status, tag, b, from); o == mailbox.Done && w.box.Knock() {
		s.p.node.Knock(s.rank, s.found.Region)
	}
	if o != mailbox.Done && w.mapped.Gone() { // what it was like tells nothing
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

// begin sends in packets what could not be written, from sent on. The receiver's
// engine then stops us, and tells us when to go on.
func (s *Sender) begin(tag uint64, b []byte, sent int, o mailbox.Outcome) (c *driver.Call, number uint64, err error) {
	if err := s.refused(o, b); err != nil {
		return nil, 0, err
	}
	c = driver.NewCall()
	op := &c.RMA
	op.Kind, op.Peer, op.Name, op.Region, op.Key = rma.IPush, s.rank, s.name, s.found.Region, s.found.Key
	op.Off, op.Buf, op.A, op.Entry, op.Mode = uint64(sent), b, tag, s.entry, uint8(s.status)
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

// StartPushTagged begins PushTagged: b must not be changed until the Op has ended. Messages
// arrive in the order in which they were started.
func (s *Sender) StartPushTagged(tag uint64, b []byte) (*Op, error) {
	s.p.count(s.rank, amt.IPush, len(b))
	o := ops.Get().(*Op)
	*o = Op{node: s.p.node}
	began := s.p.mark()
	sent, out := s.direct(tag, b, 0)
	if out == mailbox.Done {
		if s.p.timeline != nil {
			s.p.note(began, timeline.IPush, 0, s.rank, len(b), nil)
		}
		return o, nil
	}
	c, number, err := s.begin(tag, b, sent, out)
	if err != nil {
		return nil, err
	}
	o.call, o.way, o.number = c, s.way, number
	return o, nil
}
