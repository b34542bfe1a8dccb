package engine

import (
	"encoding/json"
	"strconv"

	"weft/internal/engine/coord"
)

// classes are the objects of scenarios, by the argument that names them.
var classes = map[string]coord.Config{
	"":          {Class: coord.QueueLock, Name: "L"},
	"fair":      {Class: coord.QueueLock, Name: "L", Fair: true},
	"central":   {Class: coord.CentralLock, Name: "L"},
	"rw":        {Class: coord.RWLock, Name: "L"},
	"semaphore": {Class: coord.Semaphore, Name: "L"},
	"cond":      {Class: coord.Cond, Name: "C"},
	"regions":   {Class: coord.Regions, Name: "B"},
}

// object opens the lock or barrier that a command is about.
func (s *scenario) object(rank int) *coord.Object {
	var class, algorithm string
	s.d.MaybeScanArgs(s.t, "class", &class)
	s.d.MaybeScanArgs(s.t, "algorithm", &algorithm)
	c := classes[class]
	if c.Class == coord.Semaphore {
		c.N = uint32(s.number("permits", 2))
		c.Undo = s.d.HasArg("undo")
	}
	if algorithm != "" {
		c = coord.Config{Class: coord.Barrier, Name: "B", Arity: s.number("arity", 2), Window: s.number("window", 1)}
		if s.d.HasArg("members") {
			c.Members = s.list("members", "")
		}
		for a := coord.Central; a <= coord.ModifiedShuffle; a++ {
			if a.String() == algorithm {
				c.Algorithm = a
			}
		}
	}
	o, err := s.engines[rank].Coord.Open(s.now, c)
	if err != nil {
		s.say("  rank %d: %v", rank, err)
		return nil
	}
	return o
}

// coordination is what a rank does with an object, by the command that says so.
var coordination = map[string]coord.Kind{
	"lock": coord.Lock, "try": coord.TryLock, "rlock": coord.RLock, "tryrlock": coord.TryRLock, "unlock": coord.Unlock,
	"acquire": coord.Acquire, "tryacquire": coord.TryAcquire, "giveback": coord.Release,
	"enter": coord.Enter, "wait": coord.Await, "signal": coord.Signal, "broadcast": coord.Broadcast,
	"arrive": coord.Arrive, "pass": coord.Pass, "sync": coord.Sync,
}

func (s *scenario) coordinate(rank int) {
	e := s.engines[rank]
	switch s.d.Cmd {
	case "giveup":
		if !e.Coord.Cancel(s.waiting[rank]) {
			s.say("  it has ended")
		}
		return
	case "states":
		for _, state := range e.Coord.States() {
			text, _ := json.Marshal(state)
			s.say("%s", text)
		}
		return
	case "bind":
		s.begin(rank, &coord.Op{Kind: coord.Bind, N: coord.LockID("L")})
		return
	}
	o := s.object(rank)
	if o == nil || s.d.Cmd == "use" {
		return
	}
	s.begin(rank, &coord.Op{Kind: coordination[s.d.Cmd], Object: o, N: s.amount()})
}

func (s *scenario) begin(rank int, op *coord.Op) {
	s.engines[rank].Coord.Start(s.now, op)
	if op.Done {
		s.coordinated(rank, op)
		return
	}
	s.waiting[rank] = op
	s.say("  rank %d waits", rank)
}

func (s *scenario) coordinated(rank int, op *coord.Op) {
	died := ""
	if op.Died {
		died = ", and is told that a holder died"
	}
	tries := op.Kind == coord.TryLock || op.Kind == coord.TryRLock || op.Kind == coord.TryAcquire
	switch {
	case op.Err != nil:
		s.say("  rank %d: %v", rank, op.Err)
	case tries && !op.OK:
		s.say("  rank %d does not get the lock", rank)
	case tries || op.Kind == coord.Lock || op.Kind == coord.RLock || op.Kind == coord.Acquire:
		s.say("  rank %d has the lock, epoch %d+%d%s", rank, op.Epoch>>40, op.Epoch&(1<<40-1), died)
	case op.Kind == coord.Arrive:
		s.say("  rank %d has arrived at phase %d", rank, op.Phase)
	case op.Kind == coord.Pass:
		s.say("  phase %d is over for rank %d", op.Phase, rank)
	case op.Kind == coord.Sync:
		s.say("  rank %d: phase %d", rank, op.Phase)
	case op.Kind == coord.Enter:
		s.say("  rank %d is waiter %d", rank, op.N)
	case op.Kind == coord.Await:
		s.say("  rank %d goes on", rank)
	case op.Kind == coord.Signal || op.Kind == coord.Broadcast:
		s.say("  rank %d has woken %d", rank, op.N)
	case op.Kind == coord.Bind:
		s.say("  the regions of rank %d are guarded", rank)
	}
}

// amount is how many permits, which waiter or phase, or how far the next barrier is.
func (s *scenario) amount() uint64 {
	text := "1"
	if s.d.MaybeScanArgs(s.t, "n", &text); text == "never" {
		return coord.Never
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
