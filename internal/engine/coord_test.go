package engine

import (
	"weft/internal/engine/coord"
)

// object opens the lock or barrier that a command is about.
func (s *story) object(rank int) *coord.Object {
	var class, algorithm string
	s.d.MaybeScanArgs(s.t, "class", &class)
	s.d.MaybeScanArgs(s.t, "algorithm", &algorithm)
	c := coord.Config{Class: coord.QueueLock, Name: "L", Fair: class == "fair"}
	if class == "central" {
		c.Class = coord.CentralLock
	}
	if algorithm != "" {
		c = coord.Config{Class: coord.Barrier, Name: "B", Arity: 2, Window: s.number("window", 1)}
		for a := coord.Central; a <= coord.ModifiedShuffle; a++ {
			if a.String() == algorithm {
				c.Algorithm = a
			}
		}
	}
	o, err := s.engines[rank].Coord.Open(s.now, c)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

func (s *story) coordinate(rank int) {
	e := s.engines[rank]
	if s.d.Cmd == "giveup" {
		e.Coord.Cancel(s.waiting[rank])
		return
	}
	kinds := map[string]coord.Kind{
		"lock": coord.Lock, "try": coord.TryLock, "unlock": coord.Unlock, "arrive": coord.Arrive, "pass": coord.Pass,
	}
	op := &coord.Op{Kind: kinds[s.d.Cmd], Object: s.object(rank)}
	e.Coord.Start(s.now, op)
	if op.Done {
		s.coordinated(rank, op)
		return
	}
	s.waiting[rank] = op
	s.say("  rank %d waits", rank)
}

func (s *story) coordinated(rank int, op *coord.Op) {
	died := ""
	if op.Died {
		died = ", and is told that a holder died"
	}
	switch {
	case op.Err != nil:
		s.say("  rank %d: %v", rank, op.Err)
	case op.Kind == coord.TryLock && !op.OK:
		s.say("  rank %d does not get the lock", rank)
	case op.Kind == coord.Lock || op.Kind == coord.TryLock:
		s.say("  rank %d has the lock, epoch %d+%d%s", rank, op.Epoch>>40, op.Epoch&(1<<40-1), died)
	case op.Kind == coord.Arrive:
		s.say("  rank %d has arrived at phase %d", rank, op.Phase)
	case op.Kind == coord.Pass:
		s.say("  phase %d is over for rank %d", op.Phase, rank)
	}
}
