package engine

import (
	"slices"

	"weft/internal/engine/msg"
)

// message runs a command on a port.
func (s *scenario) message(rank int) {
	e := s.engines[rank]
	p := s.ports[rank]
	switch s.d.Cmd {
	case "open":
		var err error
		flow := msg.FlowControls[0]
		s.d.MaybeScanArgs(s.t, "flow", &flow)
		s.ports[rank], err = e.Msg.Open(uint16(s.number("channel", 1)), msg.Config{
			RecvBuffer: s.number("recv", 0), SendBuffer: s.number("sendbuffer", 0),
			Flow: msg.FlowControl(slices.Index(msg.FlowControls[:], flow)),
		})
		if err != nil {
			s.say("%v", err)
		}
	case "send":
		for range s.number("count", 1) {
			s.start(rank, &msg.Op{Kind: msg.Send, Peer: s.number("to", 1), Buf: make([]byte, s.number("size", 8))})
		}
	case "recv":
		op := &msg.Op{Kind: msg.Recv, Peer: s.number("from", msg.Any)}
		if s.d.HasArg("from") {
			rank = s.number("rank", 0)
			op.Peer = s.number("from", 0)
		}
		if n := s.number("size", 0); n > 0 {
			op.Buf = make([]byte, n)
		}
		s.start(rank, op)
	case "revoke":
		p.Revoke(s.group(rank), rank, s.number("gone", -1), "it was killed")
	case "flush":
		s.start(rank, &msg.Op{Kind: msg.Flush, Peer: msg.Any})
	case "release":
		b := s.loans[rank][0]
		s.loans[rank] = s.loans[rank][1:]
		p.Release(b)
	}
}

// group is the rank that is named, or all but this one.
func (s *scenario) group(rank int) (ranks []int) {
	for r := range s.engines {
		if to := s.number("to", r); r != rank && r == to {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func (s *scenario) start(rank int, op *msg.Op) {
	s.ports[rank].Start(op)
	if op.State == msg.Pending {
		if op.Kind != msg.Send {
			s.say("  rank %d waits", rank)
		}
		return
	}
	s.result(rank, op)
}

func (s *scenario) result(rank int, op *msg.Op) {
	switch {
	case op.State == msg.Offered:
		op.Buf = make([]byte, op.Offer.Total)
		s.ports[rank].Fetch(op)
	case op.Err != nil:
		s.say("  rank %d: %v", rank, op.Err)
	case op.Kind == msg.Recv && op.Block != nil:
		s.loans[rank] = append(s.loans[rank], op.Block)
		s.say("  rank %d has %d bytes of rank %d on loan", rank, op.N, op.From)
	case op.Kind == msg.Recv:
		s.say("  rank %d has received %d bytes of rank %d", rank, op.N, op.From)
	case op.Kind == msg.Freeze:
		s.say("  rank %d is frozen, and nothing of it is on its way", rank)
	case op.Kind == msg.Flush:
		s.say("  rank %d: everything has been accepted", rank)
	}
}
