package engine

import (
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// From returns what Recv is told about packets whose guard must not be weaker than least.
func From(least link.Guard) int {
	switch least {
	case link.Checked:
		return Trusted
	case link.Encrypted:
		return Private
	default:
		return Unknown
	}
}

// leastGuard is the inverse of From.
func leastGuard(from int) link.Guard {
	switch from {
	case Trusted:
		return link.Checked
	case Private:
		return link.Encrypted
	default:
		return link.Tagged
	}
}

// Recv handles a packet. From is the sender's rank over a reliable transport,
// else Unknown, Trusted or Private. The packet is borrowed.
func (e *Engine) Recv(now monotime.Time, from int, pkt []byte) {
	if from >= e.cfg.Size {
		e.drop(wire.ErrShort)
		return
	}
	if from >= 0 {
		received := &e.cfg.Counters.Peer(from).Received
		received.Packets++
		received.Bytes += uint64(len(pkt))
		if e.watched > 0 {
			e.peer(from).pulse.Heard(now)
		}
		e.frame(now, from, pkt)
		if len(e.returnUntold) > 0 {
			e.tellDone()
		}
		return
	}
	least := leastGuard(from)
	src, err := e.self.Check(pkt)
	if err == nil && int(src) >= e.cfg.Size {
		err = link.ErrForeign
	}
	if err != nil {
		e.countStranger(pkt)
		e.drop(err)
		return
	}
	p := e.known(int(src))
	switch {
	case p != nil && p.gone != nil:
		e.countStranger(pkt)
		e.drop(link.ErrStale)
		e.answerBye(now, p, pkt, least)
		return
	case p == nil || p.conn == nil:
		if p, err = e.meet(now, int(src), pkt, least); err != nil {
			e.drop(err)
		}
		if p == nil {
			e.countStranger(pkt)
			return
		}
	}
	e.last = p
	frame, err := p.conn.Recv(now, pkt, least, e.room(p))
	if err != nil {
		e.countStranger(pkt)
		e.drop(err)
	} else {
		received := &p.q.Counts.Received
		received.Packets++
		received.Bytes += uint64(len(pkt))
	}
	for ; frame != nil && p.gone == nil; frame = p.conn.Kept(now, e.room(p)) {
		e.frame(now, p.rank, frame)
	}
	if p.gone == nil {
		e.links.sooner(p)
	}
	if p.conn.Resting() {
		e.rest(p)
	}
	if len(e.returnUntold) > 0 {
		e.tellDone()
	}
	e.active.Add(p.q)
}

// Straight takes a message into a receive that begins now, straight from its packet, and reports whether it could: see
// msg.Port.Straight. The port expects a message of the sender (msg.Port.Expects). The packet came over a reliable
// transport. If Straight could not, nothing has changed, and the packet is for Recv.
func (e *Engine) Straight(
	now monotime.Time, to *msg.Port, from int, pkt, buf []byte,
) (w msg.Whole, ok bool) {
	p := e.known(from)
	if p == nil || p.gone != nil || len(e.returnUntold) > 0 {
		return w, false
	}
	if w, ok = to.Straight(from, pkt, buf); ok {
		if p.watched {
			p.pulse.Heard(now)
		}
		received := &p.q.Counts.Received
		received.Packets++
		received.Bytes += uint64(len(pkt))
		e.last = p
	}
	return w, ok
}

// Sees reports whether a packet that Straight may be asked for is the next whole message of its sender.
func (e *Engine) Sees(to *msg.Port, from int, pkt []byte) bool {
	p := e.known(from)
	return p != nil && p.gone == nil && len(e.returnUntold) == 0 && to.Sees(from, pkt)
}

// Stirred reports whether there is something to send, or an operation has ended.
func (e *Engine) Stirred() bool { return !e.active.Empty() || e.Msg.HasFinished() }

// countStranger counts a packet that no peer is known to have sent.
func (e *Engine) countStranger(pkt []byte) {
	n := e.cfg.Counters.Node
	n.Strange++
	n.StrangeSize += uint64(len(pkt))
}

// meet handles a packet of a rank to which there is no link, and returns the peer if
// it has one now. Nothing is kept and no rank is dialled before the packet has proved that
// its sender belongs to the job. (PROTOCOL §2.2)
func (e *Engine) meet(now monotime.Time, rank int, pkt []byte, least link.Guard) (*peer, error) {
	if p := e.known(rank); p != nil && p.mtu != 0 {
		return nil, link.ErrForeign // it is reached without a link
	}
	incarnation, guard, err := e.self.Prove(pkt)
	if err != nil {
		return nil, err
	}
	if guard < least {
		return nil, link.ErrTag
	}
	p := e.peer(rank)
	if guard == link.Checked { // a checksum is good if the peer's own path is trusted, which is not known yet
		p.missed = true
		e.want(p)
		return nil, nil
	}
	e.open(now, p, incarnation)
	return p, nil
}

// room reports whether a frame of a lossy peer can be taken. If not, the peer is
// throttled until it can.
func (e *Engine) room(p *peer) bool {
	if len(p.stalled) > 0 {
		p.throttled = true
		return false
	}
	room := p.q.Len() < e.cfg.MaxQueue
	if !room && p.conn.Stopped() {
		// It waits for us as we wait for it: two that stop each other would do
		// so for good. (PROTOCOL §2.3)
		room = p.q.Len() < e.cfg.MaxQueue+maxBeyond
	}
	p.throttled = p.throttled || !room
	return room
}

// answerBye answers a peer that has left and repeats its BYE: our acknowledgement of
// it was lost.
func (e *Engine) answerBye(now monotime.Time, p *peer, pkt []byte, least link.Guard) {
	if p.parted && p.conn != nil {
		if _, err := p.conn.Recv(now, pkt, least, false); err == nil {
			e.active.Add(p.q)
		}
	}
}

// frame hands one frame to the layer it belongs to.
func (e *Engine) frame(now monotime.Time, from int, frame []byte) {
	if len(frame) == 0 {
		e.drop(wire.ErrShort)
		return
	}
	if len(e.gone) > 0 && e.peer(from).gone != nil {
		e.drop(link.ErrStale) // taken for dead, it has come back
		return
	}
	var err error
	switch t := wire.Type(frame[0]); {
	case t <= wire.TypeBeat:
		err = e.onNode(from, frame)
	case t < wire.TypeAttach:
		err = e.Msg.Recv(now, from, frame)
	case t == wire.TypeEvent:
		err = e.Coord.Recv(now, from, frame)
	default:
		if err = e.RMA.Recv(from, frame, e.holds(from)); err == rma.ErrStall {
			p := e.peer(from)
			p.stalled = append(p.stalled[:0], frame...)
			return
		}
	}
	if err != nil {
		e.drop(err)
	}
}

// holds reports whether a peer can be made to wait: its link can stop it.
func (e *Engine) holds(rank int) bool {
	p := e.peers[rank]
	return p != nil && p.conn != nil
}

// Room says that room has been given back in a mailbox of ours, or that its rings have
// changed. The goroutine that does that calls it if the mailbox says that room is wanted.
func (e *Engine) Room(now monotime.Time, r *rma.Region) {
	e.RMA.Room(r)
	for _, rank := range e.ranks() {
		if p := e.peers[rank]; len(p.stalled) > 0 && p.gone == nil {
			e.unhold(now, p)
		}
	}
}

// unhold offers the frame again that a mailbox had no room for, and goes on.
func (e *Engine) unhold(now monotime.Time, p *peer) {
	frame := p.stalled
	p.stalled = nil
	e.frame(now, p.rank, frame)
	for len(p.stalled) == 0 && p.gone == nil {
		if frame = p.conn.Kept(now, e.room(p)); frame == nil {
			break
		}
		e.frame(now, p.rank, frame)
	}
	e.active.Add(p.q)
}
