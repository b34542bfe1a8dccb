package msg

import (
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// A receive may take its message straight from the frame, with no Op between. What then becomes of the port is what
// would have become of it if the receive had been started before the frame was handed to Recv. Expects tells when the
// two are the same whatever the frame says, and Straight takes a frame that is the next whole message of its sender.

// Whole is a message that was taken straight from its frame.
type Whole struct {
	N     int
	Seq   uint32 // as Op.Seq
	Block *Block // the message, until Release, if there was no buffer
}

// Expects reports whether a receive from a peer, or from Any, that began now would wait, and the next message of that
// peer would be its. No operation of the port waits before it, nothing has arrived, and no sender was refused.
func (p *Port) Expects(from int) bool {
	return p.open && !p.freezing.frozen && p.posted.Empty() && p.arrived.Empty() && len(p.owed) == 0 && p.invited == nil &&
		(from == Any || len(p.layer.gone) == 0 || p.layer.gone[from] == nil)
}

// Straight takes the message of a frame of a peer into buf, or into a block if buf is nil. It reports whether it could.
// If not, nothing has changed, and the receive must be started and the frame be handed to Recv. The port must expect
// a message of this peer.
func (p *Port) Straight(from int, frame, buf []byte) (w Whole, ok bool) {
	d := p.known(from)
	if d == nil || !p.unbroken(d, from) {
		return w, false
	}
	ack, ask, ok := wire.TakeWhole(frame, p.channel, d.expected)
	if !ok {
		return w, false
	}
	payload := frame[wire.DataSize:]
	if buf != nil && len(payload) > len(buf) || buf == nil && !p.recv.fits(len(payload), p.promised) {
		return w, false
	}
	if ack != d.base {
		p.accepted(d, ack)
	}
	w.N = len(payload)
	w.Seq = d.expected
	if buf != nil {
		copyBytes(buf, payload)
	} else {
		d.total = w.N
		d.got = w.N
		w.Block = p.recv.get(w.N)
		w.Block.from = from
		w.Block.seq = w.Seq
		copyBytes(w.Block.mem, payload)
	}
	d.expected++
	d.q.Counts.Received.Messages++
	p.layer.Stats.Received++
	p.layer.last = p
	p.lastPair = d
	if ask {
		p.ackData(d)
	}
	return w, true
}

// Sees reports whether a frame of a peer is its next whole message, for which there is room. The port must expect a
// message of this peer.
func (p *Port) Sees(from int, frame []byte) bool {
	d := p.known(from)
	if d == nil || !p.unbroken(d, from) {
		return false
	}
	_, _, ok := wire.TakeWhole(frame, p.channel, d.expected)
	return ok && p.recv.fits(len(frame)-wire.DataSize, p.promised)
}

// unbroken reports whether a whole message is what comes next of a peer.
func (p *Port) unbroken(d *pair, from int) bool {
	return !d.barred && d.partial == nil && d.into == nil && !d.standing.waits() &&
		(len(p.layer.gone) == 0 || p.layer.gone[from] == nil)
}

// copyHead is copy for heads of messages: the brief one of package mpi is copied in the words in which it was written,
// from which the processor can forward no longer ones.
func copyHead(dst, head []byte) {
	switch {
	case len(head) == 0:
	case len(head) == 20 && len(dst) >= 20:
		mem.Copy20(dst, head)
	default:
		copy(dst, head)
	}
}

// copyBytes is copy for messages, most of which are short: a word is one store.
func copyBytes(dst, src []byte) {
	if len(src) == 8 && len(dst) >= 8 {
		*(*[8]byte)(dst) = *(*[8]byte)(src)
		return
	}
	mem.Move(dst, src)
}
