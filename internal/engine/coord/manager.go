package coord

import (
	"slices"

	"weft/internal/engine/wire"
)

// A manager is the home of a distributed queue lock (PROTOCOL §9.2). As in the
// paper it forwards each request to the one before, and does not know who holds
// the lock. It remembers who asked since the last one known to have been served,
// so that it can make a new queue when somebody dies.
type manager struct {
	n   *Node
	id  uint64
	sig signature

	token bool // it is here
	fresh bool // it has been made anew, and regions are not yet closed to older ones
	epoch uint64
	died  bool // a holder has, and nobody has been told
	gen   uint64
	seen  sentTo  // where the token was, when that was last known here
	list  []entry // who asked, in order; those before have been served
	tries []try

	repair *repair
	left   map[int]answer // of those who are leaving in good order
}

// An entry is a request.
type entry struct {
	rank   int
	serial uint32
	fresh  bool // it came while the queue was being repaired
}

// A try waits for the answer of the one that had the token last.
type try struct {
	entry
	asked int
}

// sentTo tells where the token was sent, and whether its next holder is to be told
// of a death.
type sentTo struct {
	rank  int
	epoch uint64
	died  bool
}

// A repair asks all who may be in the queue what they have.
type repair struct {
	missing int // answers
	answers map[int]answer
	fencing bool // all have answered; now the regions must be closed to the dead
}

type answer struct {
	came   bool
	is     condition
	serial uint32
	epoch  uint64
	passed int
	died   bool
}

// genShift is where an epoch holds the number of the repair that made its
// token: so epochs grow even past those that only the dead knew.
const genShift = 40

func (m *manager) event(from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventLockReq:
		if m.n.agree(from, f, m.sig) {
			m.request(entry{rank: from, serial: uint32(f.Phase)})
		}
	case wire.EventLockTry:
		if m.n.agree(from, f, m.sig) {
			m.onTry(entry{rank: from, serial: uint32(f.Phase)})
		}
	case wire.EventLockReturn:
		if f.Slot == leftWithout {
			m.farewell(from, f)
		} else {
			m.onReturn(from, f)
		}
	case wire.EventLockBusy:
		return m.onBusy(from, entry{rank: int(f.Rank), serial: uint32(f.Arg)})
	case wire.EventLockLost:
		if m.n.gone[from] == nil && !m.token {
			m.beginRepair()
		}
	case wire.EventLockState:
		return m.onState(from, f)
	default:
		m.n.agree(from, f, m.sig) // somebody takes it for something else
	}
	return nil
}

// request queues a rank. It has asked again, so everything up to its last
// request has been served.
func (m *manager) request(e entry) {
	for i, o := range m.list {
		if o.rank == e.rank && m.repair == nil {
			m.list = slices.Delete(m.list, 0, i+1)
			m.list = append(m.list, e)
			m.forward(o, e)
			return
		}
	}
	if m.repair != nil {
		e.fresh = true
		m.list = append(m.list, e)
		return
	}
	m.list = append(m.list, e)
	if m.token {
		m.give(e)
	} else {
		m.forward(entry{}, e)
	}
}

// forward tells the one before the last that it has a successor. Served is the
// last request of e's rank: if the list begins with e it was the last of all.
func (m *manager) forward(served, e entry) {
	prev := served
	if len(m.list) > 1 {
		prev = m.list[len(m.list)-2]
	}
	m.n.send(prev.rank, wire.Event{
		Kind: wire.EventLockForward, ID: m.id, Phase: m.gen, Rank: uint32(e.rank), Arg: uint64(e.serial), Aux: uint64(prev.serial),
	})
}

// give sends the token from here.
func (m *manager) give(e entry) {
	m.epoch++
	m.token, m.seen = false, sentTo{e.rank, m.epoch, m.died}
	m.n.send(e.rank, wire.Event{
		Kind: wire.EventLockReply, Flag: m.died, ID: m.id, Phase: m.gen, Arg: uint64(e.serial), Aux: m.epoch,
	})
	m.died = false
}

// onTry: the home gives the lock if the token is here, or asks the last one
// whether it needs it. (decision 0015)
func (m *manager) onTry(e entry) {
	switch {
	case m.repair != nil:
		m.deny(e)
	case m.token:
		m.list = append(m.list[:0], e)
		m.give(e)
	case m.list[len(m.list)-1].rank == e.rank:
		m.deny(e)
	default:
		prev := m.list[len(m.list)-1]
		m.tries = append(m.tries, try{e, prev.rank})
		m.n.send(prev.rank, wire.Event{
			Kind: wire.EventLockTryFor, ID: m.id, Phase: m.gen, Rank: uint32(e.rank), Arg: uint64(e.serial), Aux: uint64(prev.serial),
		})
	}
}

func (m *manager) deny(e entry) {
	m.n.send(e.rank, wire.Event{Kind: wire.EventLockDeny, ID: m.id, Arg: uint64(e.serial)})
}

func (m *manager) trying(e entry) int {
	return slices.IndexFunc(m.tries, func(t try) bool { return t.entry == e })
}

// settle denies a try, and reports whether it was still to be answered.
func (m *manager) settle(e entry) bool {
	i := m.trying(e)
	if i < 0 {
		return false
	}
	m.tries = slices.Delete(m.tries, i, i+1)
	m.deny(e)
	return true
}

// onBusy: a rank needs the token for which somebody tries. It must have been asked.
func (m *manager) onBusy(from int, e entry) error {
	if i := m.trying(e); i >= 0 && m.tries[i].asked != from {
		return wire.ErrField
	}
	m.settle(e)
	return nil
}

// onReturn: a rank has given the token back: because it leaves, or for one who
// tries.
func (m *manager) onReturn(from int, f wire.Event) {
	tries := entry{rank: int(f.Rank), serial: uint32(f.Arg >> 32)}
	if r := m.repair; r != nil || f.Phase != m.gen {
		if r != nil && f.Phase == m.gen && r.answers[from].came { // it has answered that it has it
			a := r.answers[from]
			a.is, a.passed, a.epoch, a.died = idle, m.n.size, f.Aux, f.Flag
			r.answers[from] = a
		}
		if f.Slot == 1 {
			m.settle(tries)
		}
		return
	}
	e := entry{rank: from, serial: uint32(f.Arg)}
	again := entry{rank: from, serial: e.serial + 1} // it has asked anew, which took e off the list
	switch i := slices.Index(m.list, e); {
	case i >= 0:
		m.list = slices.Delete(m.list, 0, i+1)
	case !slices.Contains(m.list, again):
		m.n.Stats.Dropped++
		return
	}
	m.token, m.epoch, m.died = true, f.Aux, m.died || f.Flag
	if len(m.list) > 0 { // somebody's forward came too late
		m.give(m.list[0])
	}
	if f.Slot == 1 {
		if j := m.trying(tries); j >= 0 {
			m.tries = slices.Delete(m.tries, j, j+1)
			m.onTry(tries)
		}
	}
}

// down begins a repair if the dead may have had the token, or been asked.
func (m *manager) down(rank int) {
	m.tries = slices.DeleteFunc(m.tries, func(t try) bool {
		if t.asked == rank && t.rank != rank {
			m.deny(t.entry)
		}
		return t.asked == rank || t.rank == rank
	})
	if slices.ContainsFunc(m.list, func(e entry) bool { return e.rank == rank }) {
		m.beginRepair()
	}
}

func (m *manager) beginRepair() {
	old := m.repair
	m.gen++
	r := &repair{answers: map[int]answer{}}
	m.repair = r
	for len(m.tries) > 0 {
		m.settle(m.tries[0].entry)
	}
	for _, e := range m.list {
		if _, asked := r.answers[e.rank]; asked || m.n.gone[e.rank] != nil {
			continue
		}
		r.answers[e.rank] = answer{}
		r.missing++
		m.n.send(e.rank, wire.Event{Kind: wire.EventLockProbe, ID: m.id, Phase: m.gen})
	}
	for _, rank := range sorted(m.left) {
		r.answers[rank] = m.left[rank]
	}
	if old != nil {
		for i := range m.list {
			m.list[i].fresh = false // they are asked too
		}
	}
	if r.missing == 0 {
		m.judge()
	}
}

func (m *manager) onState(from int, f wire.Event) error {
	r := m.repair
	if r == nil || f.Phase != m.gen {
		m.n.Stats.Dropped++
		return nil
	}
	a, asked := r.answers[from]
	if !asked || a.came || condition(f.Slot) > lastWait {
		return wire.ErrField
	}
	r.answers[from] = answer{true, condition(f.Slot), uint32(f.Arg), f.Aux, int(f.Rank), f.Flag}
	if r.missing--; r.missing == 0 {
		m.judge()
	}
	return nil
}

// farewell notes where a rank that leaves has sent the token: its BYE follows.
func (m *manager) farewell(from int, f wire.Event) {
	if m.left == nil {
		m.left = map[int]answer{}
	}
	m.left[from] = answer{true, idle, uint32(f.Arg), f.Aux, int(f.Rank), f.Flag}
}

// holder returns who has the token among those who answered, or -1.
func (r *repair) holder() int {
	for _, rank := range sorted(r.answers) {
		if is := r.answers[rank].is; is >= held {
			return rank
		}
	}
	return -1
}

// judge finds out where the token is. If it is nowhere a new one is made, and
// regions are closed to the epochs of old ones first.
func (m *manager) judge() {
	r := m.repair
	if r.holder() >= 0 || m.token && !m.fresh {
		m.rebuild()
		return
	}
	top := m.seen
	for _, rank := range sorted(r.answers) {
		a := r.answers[rank]
		back := rank == top.rank && a.epoch == top.epoch && a.passed == m.n.size // it has had it, and gives it back
		if (a.epoch > top.epoch || back) && a.is <= wait {
			top = sentTo{a.passed, a.epoch, a.died}
		}
	}
	// It was on its way to one who has not got it, or came back; or else it was
	// with the dead: of those who are not asked all have passed it on.
	if voided := r.answers[top.rank].came || top.rank == m.n.size; !voided || top.died {
		m.died = true
	}
	m.epoch = max(m.epoch, top.epoch, m.gen<<genShift)
	m.token, m.fresh, r.fencing = true, true, true
	if m.n.fence(m.id, m.epoch) {
		m.fenced()
	}
}

// fenced goes on after the regions have been closed to older epochs.
func (m *manager) fenced() {
	if m.repair != nil && m.repair.fencing {
		m.fresh = false
		m.rebuild()
	}
}

// rebuild makes the new queue: who has the token first, then those who wait, in
// the order in which they asked.
func (m *manager) rebuild() {
	r, old := m.repair, m.list
	m.repair, m.list, m.left = nil, nil, nil
	if h := r.holder(); h >= 0 && !m.token {
		a := r.answers[h]
		if a.is == lastWait {
			a.serial--
		}
		m.list = append(m.list, entry{rank: h, serial: a.serial})
		m.seen = sentTo{h, a.epoch, a.died}
	}
	for _, e := range old {
		a := r.answers[e.rank]
		waits := e.fresh || a.is == wait && a.serial == e.serial || a.is == lastWait && a.serial == e.serial
		if !waits || m.n.gone[e.rank] != nil {
			continue
		}
		e.fresh = false
		m.list = append(m.list, e)
		switch {
		case m.token:
			m.give(e)
		default:
			m.forward(entry{}, e)
		}
	}
}
