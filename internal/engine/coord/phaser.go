package coord

import (
	"slices"

	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A phaser is a barrier whose members come and go, at one of them (PROTOCOL
// §9.5.5). Its home counts. A rank that joins takes part from the phase that is open when
// the home hears of it; a rank that leaves takes no part in the phase that is open then.
// The death of a member ends the phase with an error for all, and the next phase goes on
// without it. A member that had not arrived at the phase is told when it arrives: its
// arrival counts for the phase that is over, so that all members are told of one phase.
type phaser struct {
	layer *Layer
	o     *Object

	member    bool
	phase     uint64           // that is open, as far as is known here
	next      uint64           // that this rank arrives at next: behind phase if that was broken before it arrived
	broken    map[uint64]error // phases that ended because a member died
	asked     list.List[Op]    // Join
	abandoned int              // answers to come for joins that were given up
	waiting   list.List[Op]
	err       error
}

// maxBroken is how many broken phases are remembered until this rank waits for them.
const maxBroken = 1024

// start begins an operation of the program.
func (p *phaser) start(now monotime.Time, op *Op) {
	switch {
	case p.err != nil:
		op.now(p.err)
	case op.Kind == Join && p.member || op.Kind == Join && !p.asked.Empty():
		op.now(p.o.misfit("join", failure.ErrMisuse, "this rank is a member already"))
	case op.Kind == Join:
		p.asked.Push(&op.link, op)
		p.tell(wire.EventPhaseJoin)
	case !p.member:
		op.now(p.o.misfit("use", failure.ErrNotMember, "this rank has not registered"))
	case op.Kind == Leave && p.arrived():
		op.now(p.o.misfit("leave", failure.ErrMisuse, "this rank has arrived: wait for the phase first"))
	case op.Kind == Leave:
		p.member = false
		op.Done = true
		op.Phase = p.phase
		p.tell(wire.EventPhaseLeave)
	case op.Kind == Arrive || op.Kind == Pass:
		p.arrive(op)
	case op.Kind == Await:
		p.await(op)
	default:
		op.now(p.o.misfit("use", failure.ErrMisuse, "it is a barrier"))
	}
}

// arrived reports whether this rank has arrived at the open phase.
func (p *phaser) arrived() bool { return p.next > p.phase }

// tell tells the home that this rank joins, arrives or leaves.
func (p *phaser) tell(kind wire.EventKind) {
	v := wire.PhaseEvent{Kind: kind, ID: p.o.ID, Phase: p.phase, Signature: uint64(p.o.sig)}
	p.layer.send(p.o.home, v.Event())
}

// arrive is the program's arrival at the open phase, or at one that was broken before. (PROTOCOL §9.5.5)
func (p *phaser) arrive(op *Op) {
	if p.arrived() {
		op.now(&failure.WindowError{Name: p.o.Name, Open: 1})
		return
	}
	op.N = p.next
	op.Phase = p.next
	if p.next == p.phase {
		p.tell(wire.EventPhaseArrive)
	}
	p.next++
	if op.Kind == Arrive {
		op.Done = true
		return
	}
	p.await(op)
}

// await waits until the open phase is over, or returns what an earlier one ended with.
func (p *phaser) await(op *Op) {
	op.Phase = op.N
	switch {
	case op.N >= p.next:
		op.now(p.o.misfit("wait for", failure.ErrMisuse, "this rank has not arrived at that phase"))
	case op.N < p.phase:
		op.now(p.broken[op.N])
		delete(p.broken, op.N)
	default:
		p.waiting.Push(&op.link, op)
	}
}

// cancel takes an operation back. A join is followed by a leave.
func (p *phaser) cancel(op *Op) bool {
	if p.asked.Remove(&op.link) {
		p.abandoned++
		p.tell(wire.EventPhaseLeave)
		return true
	}
	return p.waiting.Remove(&op.link)
}

// event handles phase_open. (PROTOCOL §9.5.5)
func (p *phaser) event(now monotime.Time, from int, f wire.Event) error {
	if from != p.o.home || f.Kind != wire.EventPhaseOpen {
		return wire.ErrField
	}
	v := wire.ParsePhaseEvent(f)
	if v.Joined != 0 {
		if p.abandoned > 0 {
			p.abandoned--
			return nil
		}
		if op := p.asked.Pop(); op != nil {
			p.member = true
			p.phase = v.Phase
			p.next = v.Phase
			op.Phase = v.Phase
			p.layer.finish(op, nil)
		}
		return nil
	}
	if !p.member || v.Phase != p.phase+1 {
		p.layer.Stats.Dropped++
		return nil
	}
	var err error
	if v.Broken {
		died := &failure.PeerError{Rank: int(v.Rank), Cause: failure.ErrReported}
		err = &failure.BrokenError{Name: p.o.Name, Phase: p.phase, Rank: int(v.Rank), Err: died}
	}
	p.end(err)
	return nil
}

// end ends the open phase. What it ended with is kept for a wait that is to come, perhaps after further phases.
func (p *phaser) end(err error) {
	ended := p.phase
	p.phase++
	told := false
	p.waiting.Take(func(op *Op) bool { return op.N == ended }, func(op *Op) {
		told = true
		p.layer.finish(op, err)
	})
	if err == nil {
		p.next = p.phase
	} else if !told {
		p.keep(ended, err)
	}
}

// keep remembers what a phase ended with. Of too many the first is given up.
func (p *phaser) keep(ended uint64, err error) {
	if p.broken == nil {
		p.broken = map[uint64]error{}
	}
	if len(p.broken) == maxBroken {
		first := sorted(p.broken)[0]
		delete(p.broken, first)
		p.next = max(p.next, first+1)
	}
	p.broken[ended] = err
}

// down ends the use of the barrier if its home is gone.
func (p *phaser) down(rank int, cause *failure.PeerError) {
	if rank == p.o.home {
		p.fail(cause)
	}
}

// fail ends the use of the barrier for good.
func (p *phaser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.layer.finishAll(&p.asked, p.err)
	p.layer.finishAll(&p.waiting, p.err)
}

// leave takes this rank out of the phase, unless it has arrived.
func (p *phaser) leave() {
	if p.member && p.err == nil && !p.arrived() {
		p.member = false
		p.tell(wire.EventPhaseLeave)
	}
}

// A phaserHome counts the members, and those of them that have arrived.
type phaserHome struct {
	layer   *Layer
	id      uint64
	sig     signature
	phase   uint64
	members []int
	arrived []int
}

// event handles an event of a member, or of a rank that joins. (PROTOCOL §9.5.5)
func (h *phaserHome) event(from int, f wire.Event) error {
	if !h.layer.agree(from, f, h.sig) {
		return nil
	}
	member := slices.Contains(h.members, from)
	switch f.Kind {
	case wire.EventPhaseJoin:
		if member {
			return wire.ErrField
		}
		h.members = append(h.members, from)
		v := wire.PhaseEvent{Kind: wire.EventPhaseOpen, ID: h.id, Phase: h.phase, Joined: 1}
		h.layer.send(from, v.Event())
		return nil
	case wire.EventPhaseArrive:
		phase := wire.ParsePhaseEvent(f).Phase
		if phase < h.phase && member {
			return nil // it was broken meanwhile
		}
		if !member || phase != h.phase || slices.Contains(h.arrived, from) {
			return wire.ErrField
		}
		h.arrived = append(h.arrived, from)
	case wire.EventPhaseLeave:
		if !member {
			return wire.ErrField
		}
		h.remove(from)
	default:
		return wire.ErrField
	}
	if len(h.members) > 0 && len(h.arrived) == len(h.members) {
		h.next(wire.PhaseEvent{})
	}
	return nil
}

// remove takes a member out.
func (h *phaserHome) remove(rank int) {
	same := func(r int) bool { return r == rank }
	h.members = slices.DeleteFunc(h.members, same)
	h.arrived = slices.DeleteFunc(h.arrived, same)
}

// next ends the phase.
func (h *phaserHome) next(v wire.PhaseEvent) {
	h.phase++
	h.arrived = h.arrived[:0]
	v.Kind = wire.EventPhaseOpen
	v.ID = h.id
	v.Phase = h.phase
	for _, m := range h.members {
		h.layer.send(m, v.Event())
	}
}

// down ends the phase with an error: members that have arrived counted on the dead one. A
// member that left the job in good order without phase_leave has broken the phase, too.
func (h *phaserHome) down(rank int) {
	if !slices.Contains(h.members, rank) {
		return
	}
	h.remove(rank)
	h.next(wire.PhaseEvent{Broken: true, Rank: uint32(rank)})
}

func (h *phaserHome) fenced() {}
