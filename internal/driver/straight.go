package driver

import (
	"context"

	"weft/internal/counters"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
	"weft/internal/sys"
	"weft/internal/transport"
)

// straight is the short way of a receive. Before it begins to wait, the receiving goroutine looks at the packets of one
// transport. A packet that is the next whole message of its port is copied into the program's memory, and no Call is
// made. Everything else takes the general way: other packets, other transports, timers, and other goroutines.
//
// The short way is taken only where the general way would do the same, and would wake nobody: the engine and package
// duty say so. The goroutine keeps the lock meanwhile, but only while no other wants it.
type straight struct {
	peeker transport.Peeker // nil: no transport can be looked at so
	looks  int              // of a goroutine that waits
	row    int              // messages that were taken so since all transports were looked at
}

// inARow is how many messages are taken the short way before all transports, and the timers, have their turn.
const inARow = 64

// lookAt makes a transport the one whose packets are looked at, if that is possible.
func (s *straight) lookAt(t transport.Transport, w Waiting) {
	p, ok := t.(transport.Peeker)
	if !ok || s.peeker != nil || !t.Caps().Reliable {
		return
	}
	s.peeker = p
	switch {
	case w.Budget == 0 || w.Yields > 0 || w.InProcess:
		s.looks = 1
	case t.Caps().Beats:
		s.looks = interleave.Brief(memoryGlancesCall)
	default:
		s.looks = interleave.Brief(memoryGlances)
	}
}

// mayTake reports whether a receive that does not wait may take the short way now. The lock is held.
func (n *Node) mayTake(p *msg.Port, from int) bool {
	s := &n.straight
	return s.peeker != nil && s.row < inARow && p.Expects(from) &&
		!n.eng.Stirred() && !n.eng.Blocked() && !n.life.closing.Load() && n.duty.Glance()
}

// mayStay is mayTake for a receive that looks again and again: no other goroutine need be let run first.
func (n *Node) mayStay(p *msg.Port, from int) bool {
	return n.company.waits.Load() == 0 && n.mayTake(p, from)
}

// takeStraight receives the next message the short way, and reports whether it did. It looks so many times. The lock
// is held.
func (n *Node) takeStraight(ctx context.Context, p *msg.Port, from int, buf []byte, looks int) (r Received, ok bool) {
	s := &n.straight
	began := n.mark()
	now := n.clock() // to read it when the message is there would delay the message
	sender, pkt, made := n.lookStraight(ctx, from, looks)
	if pkt == nil {
		return r, false
	}
	w, ok := n.eng.Straight(now, p, sender, pkt, buf)
	if ok {
		s.peeker.Took()
		s.row++
		n.tookStraight(p, sender, made, began, w)
	}
	return Received{sender, w.N, w.Block}, ok
}

// seeStraight waits for a message that may be taken the short way, and leaves it. It reports whether there is one. The
// lock is held.
func (n *Node) seeStraight(ctx context.Context, p *msg.Port) bool {
	sender, pkt, made := n.lookStraight(ctx, msg.Any, n.looksFrom(msg.Any))
	if pkt == nil || !n.eng.Sees(p, sender, pkt) {
		return false
	}
	n.looked(made)
	return true
}

// looksFrom returns how often a goroutine looks that waits for a message from a peer, or from msg.Any.
func (n *Node) looksFrom(from int) int {
	if from == msg.Any && len(n.transports.all) > 1 {
		return 1 // it may come another way
	}
	return n.straight.looks
}

// lookStraight looks for a packet so many times, and returns how many of these were in vain. The lock is held.
func (n *Node) lookStraight(ctx context.Context, from, looks int) (sender int, pkt []byte, made int) {
	for {
		sender, pkt, maybe := n.straight.peeker.Peek(from)
		if pkt != nil {
			return sender, pkt, made
		}
		made++
		if maybe || made >= looks || n.company.lockers.Load() > 0 || made == 1 && ctx.Err() != nil {
			return 0, nil, made
		}
		sys.Relax(made)
	}
}

// tookStraight does what is due after a message was taken at the last of some looks. The lock is held.
func (n *Node) tookStraight(p *msg.Port, from, looks int, began int64, w msg.Whole) {
	n.looked(looks)
	if n.eng.Stirred() {
		n.flush(n.clock())
	}
	if n.timeline != nil {
		n.noteReceived(began, p, from, w.Seq, w.N)
	}
}

// looked counts a wait for a message, if it has taken so many looks. The lock is held.
func (n *Node) looked(looks int) {
	if looks > 0 {
		waits := &n.stats.page.Node.Waits[counters.Receive]
		waits.Count++
		waits.Polled += uint64(n.waiting.looked(looks))
	}
}
