package coord

import (
	"slices"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A phaser is a barrier whose members come and go, at one of them (PROTOCOL
// §9.5.5). Its home counts: who joins takes part from the phase that is open when
// the home hears of it, who leaves takes no part in the phase that is open then.
// A member that dies ends the phase with an error for all, and the next goes on
// without it.
type phaser struct {
	layer *Layer
	o     *Object

	member    bool
	phase     uint64           // that is open, as far as is known here
	arrived   bool             // in it
	broken    map[uint64]error // phases that ended because somebody died
	asked     opList           // Join
	abandoned int              // answers to come for those that were given up
	waiting   opList
	err       error
}

// maxBroken is how many broken phases at which this rank has arrived are remembered
// until it waits for them.
const maxBroken = 1024

func (p *phaser) start(now monotime.Time, op *Op) {
	switch {
	case p.err != nil:
		op.now(p.err)
	case op.Kind == Join && p.member || op.Kind == Join && p.asked.first != nil:
		op.now(&StateError{p.o.Name, "join", ErrUse, "this rank is a member already"})
	case op.Kind == Join:
		p.asked.push(op)
		p.send(wire.EventPhaseJoin)
	case !p.member:
		op.now(&StateError{p.o.Name, "use", ErrNotMember, "this rank has not registered"})
	case op.Kind == Leave && p.arrived:
		op.now(&StateError{p.o.Name, "leave", ErrUse, "this rank has arrived: wait for the phase first"})
	case op.Kind == Leave:
		p.member = false
		op.Done, op.Phase = true, p.phase
		p.send(wire.EventPhaseLeave)
	case op.Kind == Arrive || op.Kind == Pass:
		p.arrive(op)
	case op.Kind == Await:
		p.await(op)
	default:
		op.now(&StateError{p.o.Name, "use", ErrUse, "it is a barrier"})
	}
}

func (p *phaser) send(kind wire.EventKind) {
	p.layer.send(p.o.home, wire.Event{Kind: kind, ID: p.o.ID, Phase: p.phase, Arg: uint64(p.o.sig)})
}

func (p *phaser) arrive(op *Op) {
	if p.arrived {
		op.now(&WindowError{p.o.Name, 1})
		return
	}
	p.arrived = true
	p.send(wire.EventPhaseArrive)
	op.N, op.Phase = p.phase, p.phase
	if op.Kind == Arrive {
		op.Done = true
		return
	}
	p.waiting.push(op)
}

func (p *phaser) await(op *Op) {
	op.Phase = op.N
	switch {
	case op.N < p.phase:
		op.now(p.broken[op.N])
		delete(p.broken, op.N)
	case op.N > p.phase || !p.arrived:
		op.now(&StateError{p.o.Name, "wait for", ErrUse, "this rank has not arrived at that phase"})
	default:
		p.waiting.push(op)
	}
}

// cancel: one who does not want to join any more must leave as soon as it is told
// that it has.
func (p *phaser) cancel(op *Op) bool {
	if p.asked.remove(op) {
		p.abandoned++
		p.send(wire.EventPhaseLeave)
		return true
	}
	return p.waiting.remove(op)
}

func (p *phaser) event(now monotime.Time, from int, f wire.Event) error {
	if from != p.o.home || f.Kind != wire.EventPhaseOpen {
		return wire.ErrField
	}
	if f.Slot == 1 { // the answer to a Join
		if p.abandoned > 0 {
			p.abandoned--
			return nil
		}
		if op := p.asked.pop(); op != nil {
			p.member, p.phase, p.arrived = true, f.Phase, false
			op.Phase = f.Phase
			p.layer.finish(op, nil)
		}
		return nil
	}
	if !p.member || f.Phase != p.phase+1 {
		p.layer.Stats.Dropped++
		return nil
	}
	var err error
	if f.Flag {
		err = &BrokenError{Name: p.o.Name, Phase: p.phase, Rank: int(f.Rank), Err: &link.PeerError{Rank: int(f.Rank), Cause: errReported}}
	}
	ended, counted := p.phase, p.arrived
	p.phase, p.arrived = f.Phase, false
	told := false
	p.waiting.take(func(op *Op) bool { return op.N == ended }, func(op *Op) {
		told = true
		p.layer.finish(op, err)
	})
	if err != nil && counted && !told { // Await is to come, perhaps after further phases
		if p.broken == nil {
			p.broken = map[uint64]error{}
		}
		if len(p.broken) == maxBroken {
			delete(p.broken, sorted(p.broken)[0])
		}
		p.broken[ended] = err
	}
	return nil
}

func (p *phaser) down(rank int, cause *link.PeerError) {
	if rank == p.o.home {
		p.fail(cause)
	}
}

func (p *phaser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	all := func(*Op) bool { return true }
	p.asked.take(all, func(op *Op) { p.layer.finish(op, p.err) })
	p.waiting.take(all, func(op *Op) { p.layer.finish(op, p.err) })
}

func (p *phaser) leave() {
	if p.member && p.err == nil && !p.arrived {
		p.member = false
		p.send(wire.EventPhaseLeave)
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
		h.layer.send(from, wire.Event{Kind: wire.EventPhaseOpen, Slot: 1, ID: h.id, Phase: h.phase})
		return nil
	case wire.EventPhaseArrive:
		if f.Phase < h.phase && member {
			return nil // it was broken meanwhile
		}
		if !member || f.Phase != h.phase || slices.Contains(h.arrived, from) {
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
		h.next(wire.Event{})
	}
	return nil
}

func (h *phaserHome) remove(rank int) {
	same := func(r int) bool { return r == rank }
	h.members = slices.DeleteFunc(h.members, same)
	h.arrived = slices.DeleteFunc(h.arrived, same)
}

// next ends the phase.
func (h *phaserHome) next(f wire.Event) {
	h.phase++
	h.arrived = h.arrived[:0]
	f.Kind, f.ID, f.Phase = wire.EventPhaseOpen, h.id, h.phase
	for _, m := range h.members {
		h.layer.send(m, f)
	}
}

// down ends the phase with an error: those who have arrived counted on the dead.
// One that has left in good order without a word has also broken it.
func (h *phaserHome) down(rank int) {
	if !slices.Contains(h.members, rank) {
		return
	}
	h.remove(rank)
	h.next(wire.Event{Flag: true, Rank: uint32(rank)})
}

func (h *phaserHome) fenced() {}
