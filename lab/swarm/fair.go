package swarm

import "weft/internal/engine/msg"

// Senders that were refused are served before newcomers, and first refused first served
// (PROTOCOL §3.1). What the checker knows of their order comes from when each was refused, not
// from the receiver's list. Two kinds of senders may come first: one that was told to come
// before, and one from which alone a receive is posted. A port that backs off promises nothing.

// A senderTurn is how a sender stood at a port when it was last looked at.
type senderTurn struct {
	next   uint32 // the number of its next message that has no place yet
	since  uint64 // the look at which the refusal was first seen; 0 if the message was not refused
	owed   bool
	called bool
}

// A turnOrder is the order of the senders of a port.
type turnOrder struct {
	turns   []senderTurn // by rank
	alone   []bool       // a receive from just this rank has been posted since the last look
	looks   uint64
	refused uint64 // messages that the node had refused at the last look
	idle    bool   // no sender was owed a GO
}

func newLine(nodes int) turnOrder {
	return turnOrder{turns: make([]senderTurn, nodes), alone: make([]bool, nodes), idle: true}
}

// checkTurns checks which senders were served since it was called last.
func (p *port) checkTurns() {
	n := p.n
	l := &p.order
	refused := n.eng.Stats().Msg.Refused
	if n.c.Backoff || l.idle && refused == l.refused {
		return
	}
	defer p.noteAlone()
	l.refused = refused
	l.looks++
	before := uint64(0) // the first refusal of a sender that was not served; 0: there is none
	now := make([]senderTurn, n.c.Nodes)
	for rank := range l.turns {
		was := l.turns[rank]
		t := senderTurn{}
		t.next, t.owed, t.called = p.port.Turn(rank)
		self := rank == n.rank // it may be told to come, and be refused again, between two looks
		if t.owed && was.owed && !self && t.next == was.next && (before == 0 || was.since < before) {
			before = was.since
		}
		if t.owed || t.called {
			if t.since = was.since; t.since == 0 || t.next != was.next {
				t.since = l.looks
			}
		}
		now[rank] = t
	}
	l.idle = true
	for rank, was := range l.turns {
		t := now[rank]
		l.idle = l.idle && !t.owed
		if before != 0 && !l.alone[rank] && n.eng.Gone(rank) == nil {
			p.judgeTurn(rank, was, t, before)
		}
		l.turns[rank] = t
	}
}

// judgeTurn checks that a sender that was served had the first turn: another was refused
// at the look before, and still waits to be told to come.
func (p *port) judgeTurn(rank int, was, t senderTurn, before uint64) {
	served := int32(t.next-was.next) > 0 || t.called && !was.called
	if !served || was.called || was.owed && was.since <= before {
		return
	}
	p.n.c.fail("fairness", "rank %d, channel %d: rank %d was served, first refused at look %d (0: never), and one "+
		"that was refused at look %d still waits",
		p.n.rank, p.channel, rank, was.since, before)
}

// noteAlone notes which ranks are waited for alone from this look on.
func (p *port) noteAlone() {
	clear(p.order.alone)
	for _, r := range p.receivers {
		if r.op != nil && r.op.Peer != msg.Any {
			p.order.alone[r.op.Peer] = true
		}
	}
}
