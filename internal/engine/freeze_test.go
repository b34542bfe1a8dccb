package engine

import (
	"fmt"

	"weft/internal/engine/msg"
)

// freeze runs a command on a port that is frozen, or will be.
func (s *scenario) freeze(rank int) {
	p := s.ports[rank]
	var name string
	switch s.d.Cmd {
	case "freeze":
		op := &msg.Op{Kind: msg.Freeze, Peer: msg.Any}
		if s.engines[rank].Start(p, op); op.State == msg.Done {
			s.result(rank, op)
		} else {
			s.say("  rank %d waits", rank)
		}
	case "save":
		s.d.ScanArgs(s.t, "as", &name)
		b, held, err := p.Save(nil)
		if err != nil {
			s.say("%v", err)
			return
		}
		s.saved[fmt.Sprint(rank, name)] = b
		s.say("  rank %d has saved %+v", rank, held)
	case "restore":
		s.d.MaybeScanArgs(s.t, "of", &name)
		held, err := p.Restore(s.saved[fmt.Sprint(rank, name)])
		if err != nil {
			s.say("%v", err)
			return
		}
		s.say("  rank %d has restored %+v", rank, held)
	case "thaw":
		if err := p.Thaw(); err != nil {
			s.say("%v", err)
		}
	}
}
