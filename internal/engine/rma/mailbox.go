package rma

import (
	"errors"
	"slices"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
)

// ErrStall says that a stalling mailbox has no room for a frame. The frame must be offered again after Room, before any
// other frame of its sender.
var ErrStall = errors.New("weft: a mailbox stalls its sender")

// An inflow is what one peer sends to one mailbox.
type inflow struct {
	peer    *peer
	region  *Region
	arrival mailbox.Arrival
	begun   bool   // arrival is not complete
	failed  uint32 // the last message that was refused for good
	held    bool   // a frame waits for room: the mailbox stalls

	// A peer that found no room is stopped. Packets that it had sent by then are dropped; their round tells them from
	// those of the next attempt.
	stopped bool
	round   uint16
	next    wire.IPush // the packet that is to come first in the next round
	length  int        // its length
}

// ExposeMailbox makes a mailbox reachable under a name. Stall says that a sender that
// finds it full is to be held up with all that it sends, where the link can do so.
func (l *Layer) ExposeMailbox(name string, box *mailbox.Box, bytes []byte, mem uint32, stall bool) (*Region, error) {
	return l.expose(&Region{Name: name, Bytes: bytes, Mem: mem, Box: box, owner: box.Owner(), Stall: stall})
}

// onIPush takes one packet of a message to a mailbox: the receiver, not the sender,
// chooses where it goes. (PROTOCOL §10.2; IPUSH of [Kitamura06])
func (l *Layer) onIPush(p *peer, f wire.IPush, payload []byte, mayStall bool) error {
	r := l.regions[f.Region]
	if r == nil || r.Box == nil || r.Key != f.Key {
		l.refuse(p, f, r)
		return nil
	}
	s := p.inflow(r)
	s.hold(false)
	switch {
	case s.stopped && s.round == f.Round, s.failed == f.Op && f.Off > 0:
		l.Stats.Dropped++
		return nil
	case s.stopped:
		l.started(s)
	}
	s.failed = 0
	o := s.take(f, payload)
	if stall := r.Stall && mayStall; o == mailbox.Full && stall {
		r.Box.Want(true)
		if o = s.take(f, payload); o == mailbox.Full { // nor was any given back just now
			s.hold(true)
			return ErrStall
		}
	}
	switch {
	case o == mailbox.Done && !s.begun:
		l.Stats.Mail++
		p.result(f.Op, wire.StatusOK, uint64(s.arrival.Ticket))
	case o == mailbox.Done:
	case o != mailbox.Full:
		s.failed = f.Op
		s.drop()
		l.Stats.Refused++
		p.result(f.Op, status(o), 0)
	default:
		l.stop(s, f, len(payload))
	}
	return nil
}

// refuse answers a packet for which there is no mailbox, once for each message.
func (l *Layer) refuse(p *peer, f wire.IPush, r *Region) {
	l.Stats.Refused++
	if p.failedIPush == f.Op && f.Off > 0 {
		return
	}
	p.failedIPush = f.Op
	switch {
	case r == nil:
		p.result(f.Op, l.missing(f.Region), 0)
	case r.Box == nil:
		p.result(f.Op, wire.StatusNoRegion, 0)
	default:
		p.result(f.Op, wire.StatusKey, 0)
	}
}

// status returns the status that tells a sender of an outcome.
func status(o mailbox.Outcome) wire.Status {
	switch o {
	case mailbox.TooLong:
		return wire.StatusTooLong
	case mailbox.IsShared:
		return wire.StatusShared
	default:
		return wire.StatusNoEntry
	}
}

// inflow returns what arrives from a peer in a mailbox.
func (p *peer) inflow(r *Region) *inflow {
	s := p.inflows[r.ID]
	if s == nil {
		s = &inflow{peer: p, region: r}
		if p.inflows == nil {
			p.inflows = map[uint32]*inflow{}
		}
		p.inflows[r.ID] = s
	}
	return s
}

// entry returns the ring that an IPUSH names, or mailbox.NoRing.
func entry(f *wire.IPush) int {
	if f.Entry == wire.NoEntry {
		return mailbox.NoRing
	}
	return int(f.Entry)
}

// take writes a packet. If a new message begins, the sender has given up the one before.
func (s *inflow) take(f wire.IPush, payload []byte) mailbox.Outcome {
	w := s.region.owner
	a := &s.arrival
	if f.Off == 0 || !s.begun {
		s.drop()
		mode := mailbox.Mode(f.Mode)
		if f.Off > 0 { // the first part was written by the sender itself
			mode = mailbox.PerPacket
		}
		*a = mailbox.Arrival{From: s.peer.rank, Tag: f.Tag, Total: int(f.Total)}
		if o := w.Begin(a, entry(&f), mode); o != mailbox.Done {
			return o
		}
		a.Got = int(f.Off)
		s.begun = true
	}
	if a.Got != int(f.Off) || a.Total != int(f.Total) {
		return mailbox.NoEntry
	}
	o := w.Add(a, payload)
	if o == mailbox.Done && a.Got == a.Total {
		s.begun = false
	}
	return o
}

// drop gives up the message that is not complete.
func (s *inflow) drop() {
	if s.begun {
		s.begun = false
		s.region.Box.Abandon(&s.arrival)
	}
}

// hold notes whether a frame of the peer is held because the mailbox stalls.
func (s *inflow) hold(on bool) {
	if on == s.held {
		return
	}
	if s.held = on; on {
		s.region.held++
	} else {
		s.region.held--
	}
}

// stop tells the peer that there is no room. It will be told to go on.
func (l *Layer) stop(s *inflow, f wire.IPush, length int) {
	s.stopped = true
	s.round = f.Round
	s.next = f
	s.length = length
	s.region.stopped = append(s.region.stopped, s)
	l.Stats.Stopped++
	m := wire.IStop{Round: f.Round, Op: f.Op, Region: f.Region, Off: f.Off}
	s.peer.q.Push(m.Append(s.peer.q.Head()), nil, true)
	s.region.Box.Want(true)
	l.Room(s.region) // if it was given back just now
}

// room reports whether the packet that is to come next would be taken now.
func (s *inflow) room() bool {
	f := &s.next
	if s.begun && f.Off > 0 { // it goes on in the ring where it began
		return s.region.Box.HasRoom(&s.arrival, s.arrival.Ring(), mailbox.PerPacket, s.length)
	}
	a := mailbox.Arrival{From: s.peer.rank, Total: int(f.Total)}
	return s.region.Box.HasRoom(&a, entry(f), mailbox.Mode(f.Mode), s.length)
}

// Room tells senders that found a mailbox full to go on (IGO), if there is room for them now.
// It is called after room has been given back, or the rings have changed, if the box says
// that room is wanted. (PROTOCOL §10.2)
func (l *Layer) Room(r *Region) {
	rest := r.stopped[:0]
	for _, s := range r.stopped {
		if !s.room() {
			rest = append(rest, s)
			continue
		}
		s.restart()
	}
	clear(r.stopped[len(rest):])
	r.stopped = rest
	r.Box.Want(len(rest) > 0 || r.held > 0)
}

// restart tells a peer that was stopped to begin again.
func (s *inflow) restart() {
	s.peer.q.Push(wire.IGo{Round: s.round, Region: s.region.ID}.Append(s.peer.q.Head()), nil, true)
}

// started ends the stop of a sender that begins again.
func (l *Layer) started(s *inflow) {
	s.stopped = false
	if i := slices.Index(s.region.stopped, s); i >= 0 {
		s.region.stopped = slices.Delete(s.region.stopped, i, i+1)
	}
}

// forget ends what a peer that has gone was sending.
func (l *Layer) forget(p *peer) {
	for _, id := range sorted(p.inflows) {
		s := p.inflows[id]
		l.started(s)
		s.drop()
		s.hold(false)
		if s.region.Box.Wanted() {
			l.Room(s.region)
		}
	}
	p.inflows = nil
	p.streams = nil
}

// Open returns the messages to a mailbox that are being received.
func (l *Layer) Open(r *Region) (open []*mailbox.Arrival) {
	for _, rank := range l.ranks() {
		if s := l.peers[rank].inflows[r.ID]; s != nil && s.begun {
			open = append(open, &s.arrival)
		}
	}
	return open
}

// closeMailbox tells senders that wait for room in a closing mailbox to send again: they are refused then.
func (l *Layer) closeMailbox(r *Region) {
	for _, s := range r.stopped {
		s.restart()
	}
	r.stopped = nil
	for _, rank := range l.ranks() {
		delete(l.peers[rank].inflows, r.ID)
	}
	l.wake(failure.ErrClosed, func(op *Op) bool { return op.Region == r.ID })
}

// look ends the waits for mailboxes in which something has arrived.
func (l *Layer) look() {
	l.wake(nil, func(op *Op) bool {
		r := l.regions[op.Region]
		return r != nil && r.Box.Ready()
	})
}

// onKnock ends all waits for a mailbox, even if its next record has not been written. An earlier sender may have
// reserved that record, and does not knock when it has written it, because this sender has knocked. (PROTOCOL §10.6)
func (l *Layer) onKnock(_ *peer, f wire.Knock) {
	l.wake(nil, func(op *Op) bool { return op.Region == f.Region })
}

// wake ends the waits for mailboxes for which f reports true.
func (l *Layer) wake(err error, f func(op *Op) bool) {
	l.awaiting.Take(f, func(op *Op) {
		op.Done = true
		op.Err = err
		l.done.Push(&op.link, op)
	})
}
