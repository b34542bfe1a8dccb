package coord

import (
	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A barrier runs a plan (PROTOCOL §9.5), phase after phase. A member may have arrived at up
// to Window phases that are not over yet. No member completes a phase before all have
// arrived at it, so inputs can come for at most Window further phases. For each gate, and
// each of 2·Window phases, the barrier counts the inputs that are missing. (With a window of
// one this is the parity bit of [Miyawaki01].)
type barrier struct {
	layer *Layer
	o     *Object
	me    int
	size  int
	plan  Plan

	window  uint64
	missing []int32       // inputs, by phase modulo 2·window, then by gate
	inputs  inputs        // those that have come
	opened  []openedGates // by phase modulo 2·window: what this member has still to pass on
	arrived uint64        // the last phase at which the program has
	done    uint64        // the last phase that is over
	waiting list.List[Op]

	err        *failure.BrokenError
	limit      uint64 // phases up to it can still be over
	clean      bool   // because a member has left in good order
	brokenTold bool   // the others have been told
	refused    error
	left       map[int]bool // members that have said up to which phase they take part
	closed     map[int]bool // members that have closed the barrier; nil: none
	settled    bool         // this member has its part of the memory: see Settle
	clock      *clock       // of an aligned barrier
}

// newBarrier returns a barrier at one of its members, before its first phase.
func newBarrier(n *Layer, o *Object) (*barrier, error) {
	b := &barrier{layer: n, o: o, me: o.place(n.rank), size: n.size, window: uint64(max(o.Window, 1)), limit: ^uint64(0),
		left: map[int]bool{}}
	if o.Members != nil {
		b.size = len(o.Members)
	}
	if b.me < 0 {
		return nil, o.misfit("use", failure.ErrNotMember, "this rank is not a member")
	}
	var err error
	if b.plan, err = NewPlan(o.Algorithm, b.size, o.Arity, b.me); err != nil {
		return nil, err
	}
	for range 2 * b.window {
		for _, g := range b.plan.Gates {
			b.missing = append(b.missing, int32(g.Inputs))
		}
	}
	b.inputs = b.newInputs(int(2 * b.window))
	b.opened = make([]openedGates, 2*b.window)
	if o.Aligned {
		b.clock = &clock{}
	}
	return b, nil
}

// member returns the rank of a member.
func (b *barrier) member(i int) int {
	if b.o.Members == nil {
		return i
	}
	return b.o.Members[i]
}

// neighbours calls f with the rank of every member that this one sends to or hears from.
func (b *barrier) neighbours(f func(rank int)) {
	b.contacts(func(i int) { f(b.member(i)) })
}

// contacts calls f with every member that this one sends to or hears from.
func (b *barrier) contacts(f func(i int)) {
	seen := map[int]bool{b.me: true}
	call := func(i int) {
		if !seen[i] {
			seen[i] = true
			f(i)
		}
	}
	for _, g := range b.plan.Gates {
		for _, s := range g.Sends {
			call(s.To)
		}
	}
	for _, i := range b.plan.From {
		call(i)
	}
}

// open makes the deaths of the members that this one depends on be noticed.
func (b *barrier) open(now monotime.Time) {
	b.neighbours(b.layer.peers.Want)
	b.hello()
	if b.clock != nil {
		b.layer.aligned++
		b.ping(now)
	}
}

// hello sends the barrier's signature to the members that this one hears from, except where its arrival carries the
// signature. Otherwise two members that disagree could wait for each other.
func (b *barrier) hello() {
	told := map[int]bool{}
	if first := b.plan.Gates[0]; first.Inputs == 1 {
		for _, s := range first.Sends {
			told[b.member(s.To)] = true
		}
	}
	b.tellNeighbours(wire.Token{Kind: wire.EventHello, ID: b.o.ID, Signature: uint64(b.o.sig)}.Event(),
		func(rank int) bool { return told[rank] })
}

// tellNeighbours sends an event about the barrier to all neighbours that are not
// gone, except the ranks that know already.
func (b *barrier) tellNeighbours(f wire.Event, knows func(rank int) bool) {
	b.neighbours(func(rank int) {
		if b.layer.gone[rank] == nil && !knows(rank) {
			b.layer.send(rank, f)
		}
	})
}

// none is for tellNeighbours: no rank knows already.
func none(int) bool { return false }

// start begins an operation of the program.
func (b *barrier) start(now monotime.Time, op *Op) {
	switch {
	case b.refused != nil:
		op.now(b.refused)
	case op.Kind == Arrive:
		if op.Err = b.arrive(now); op.Err == nil {
			op.Phase = b.arrived
		}
		op.Done = true
	case op.Kind == Pass:
		if op.Err = b.arrive(now); op.Err != nil {
			op.Done = true
			return
		}
		op.N = b.arrived
		b.await(op)
	case op.Kind == Await:
		b.await(op)
	case op.Kind == Settle:
		op.Done = true
		b.settled = true
	case op.Kind == Break:
		op.Done = true
		if b.memberGone(int(op.N), b.done, false, failure.ErrReported); b.err != nil {
			b.tellBroken()
		}
	default:
		op.now(b.o.misfit("use", failure.ErrMisuse, "it is a barrier of fixed members"))
	}
}

// arrive is the program's arrival at the next phase.
func (b *barrier) arrive(now monotime.Time) error {
	if b.arrived >= b.limit {
		b.tellBroken()
		return b.err
	}
	if b.arrived-b.done >= b.window {
		return &failure.WindowError{Name: b.o.Name, Open: int(b.window)}
	}
	b.arrived++
	if b.clock != nil && !b.clock.known(b) {
		return nil // the arrival is told when the master's clock is known
	}
	b.input(now, 0, wire.Token{Phase: b.arrived})
	return nil
}

// await waits for the end of a phase at which the program has arrived.
func (b *barrier) await(op *Op) {
	op.Phase = op.N
	switch {
	case op.N <= b.done:
		op.Done = true
	case op.N > b.limit:
		op.now(b.err)
	case op.N > b.arrived:
		op.now(b.o.misfit("wait for", failure.ErrMisuse, "this rank has not arrived at that phase"))
	default:
		b.waiting.Push(&op.link, op)
	}
}

// cancel ends a wait. The arrival stays.
func (b *barrier) cancel(op *Op) bool { return b.waiting.Remove(&op.link) }

// event handles an event of another member. (PROTOCOL §9.5)
func (b *barrier) event(now monotime.Time, from int, f wire.Event) error {
	if b.closed != nil && b.closed[from] {
		return b.layer.keep(from, f) // of the next barrier of the name
	}
	switch f.Kind {
	case wire.EventHello:
		b.agrees(from, wire.Signature(f))
	case wire.EventToken:
		return b.onToken(now, from, wire.ParseToken(f))
	case wire.EventLeft:
		v := wire.ParseLeft(f)
		if int(v.Rank) >= b.layer.size {
			return wire.ErrField
		}
		b.memberGone(int(v.Rank), v.Phase, !v.Gone, failure.ErrReported)
	case wire.EventClosed:
		b.onClosed(from, wire.ParseLeft(f))
	case wire.EventPing:
		b.layer.pong(now, from, wire.ParseClock(f))
	case wire.EventPong:
		b.onPong(now, wire.ParseClock(f))
	default:
		return wire.ErrField
	}
	return nil
}

// agrees reports whether a peer describes the barrier as this member does. If not, neither can use it.
func (b *barrier) agrees(from int, sig uint64) bool {
	if sig == uint64(b.o.sig) {
		return true
	}
	b.layer.send(from, wire.Refuse{ID: b.o.ID, Signature: uint64(b.o.sig)}.Event())
	b.fail(b.o.disagree(from, signature(sig)))
	return false
}

// onToken handles an input that another member gives to a gate of this one.
// (PROTOCOL §9.5.1)
func (b *barrier) onToken(now monotime.Time, from int, v wire.Token) error {
	if !b.agrees(from, v.Signature) {
		return nil
	}
	if b.refused != nil || b.err != nil && v.Phase > b.limit {
		b.layer.Stats.Dropped++
		return nil //nolint:nilerr // the event is not wrong, but late
	}
	gate := int(v.Gate)
	open := v.Phase > b.done && v.Phase <= b.arrived+b.window
	if gate >= len(b.plan.Gates) || !open || b.missing[b.gateIndex(v.Phase, gate)] <= 0 ||
		!b.inputs.take(b.phaseIndex(v.Phase), gate, from) {
		return wire.ErrField
	}
	if b.clock != nil && b.me == 0 {
		b.clock.noteDelay(from, v)
	}
	b.input(now, gate, v)
	return nil
}

// gateIndex is where the inputs of a gate in a phase are counted.
func (b *barrier) gateIndex(phase uint64, gate int) int {
	return b.phaseIndex(phase)*len(b.plan.Gates) + gate
}

// phaseIndex is a phase modulo those for which inputs are counted.
func (b *barrier) phaseIndex(phase uint64) int {
	return int(phase % (2 * b.window))
}

// input gives a gate one of its inputs: a token, or that of this member's own arrival.
func (b *barrier) input(now monotime.Time, gate int, v wire.Token) {
	phase := v.Phase
	missing := &b.missing[b.gateIndex(phase, gate)]
	g := &b.plan.Gates[gate]
	if *missing--; *missing > 0 {
		return
	}
	*missing = int32(g.Inputs) // before any token leaves: the next phase's may come at once
	b.inputs.reset(b.phaseIndex(phase), gate)
	var release uint64
	if b.clock != nil && g.Done {
		release = b.release(now, v)
	}
	if len(g.Sends) > 0 {
		b.noteOpened(phase)
	}
	for k := range g.Sends {
		s := g.Sends[b.turn(g, k)]
		if s.To == b.me {
			b.input(now, s.Gate, wire.Token{Phase: phase})
			continue
		}
		t := wire.Token{Kind: wire.EventToken, ID: b.o.ID, Gate: uint8(s.Gate), Phase: phase, Signature: uint64(b.o.sig)}
		if b.clock != nil {
			b.clock.stamp(b, &t, release)
		}
		b.layer.send(b.member(s.To), t.Event())
	}
	if g.Done && (b.clock == nil || !b.postpone(now, phase)) {
		b.complete(phase)
	}
}

// complete lets the program go on.
func (b *barrier) complete(phase uint64) {
	b.done = phase
	b.waiting.Take(func(op *Op) bool { return op.N <= phase }, func(op *Op) { b.layer.finish(op, nil) })
}
