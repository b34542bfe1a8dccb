package agreement

// An Outgoing is a message and the place of the member to which it is to be sent.
type Outgoing struct {
	To int
	Message
}

// A Node is one member of a group. Agreements are numbered from 1, with the same numbers at all members. A
// member proposes for an agreement only when the one before has been decided.
type Node struct {
	n, me    int
	dead     Set // members that take no part any more, as far as is known here
	excluded bool
	decided  uint32 // the number of the last agreement that has been decided
	proposed uint32 // the number of the last that this member has proposed for
	open     map[uint32]*instance
	outgoing []Outgoing
}

// ahead is how many agreements beyond the last one that was decided here another member may be. A
// member that is two ahead has heard that this one accepted the value of the agreement in between,
// which this one has not decided yet.
const ahead = 2

// New returns the node of the member at place me in a group of n.
func New(n, me int) *Node {
	return &Node{n: n, me: me, open: map[uint32]*instance{}}
}

// Ready reports whether Propose may be called: the last agreement for which this member has
// proposed has been decided.
func (a *Node) Ready() bool { return a.proposed == a.decided && !a.excluded }

// Propose gives this member's contribution to the next agreement.
func (a *Node) Propose(flags uint64, kind uint32) {
	a.proposed++
	i := a.instance(a.proposed)
	i.own = Value{And: flags, Min: kind, Max: kind}
	a.enter(i)
}

// Decided returns the number of the last agreement that has been decided here, or 0, and its value.
func (a *Node) Decided() (number uint32, v Value) {
	if i := a.open[a.decided]; i != nil {
		v = i.accepted.Value
	}
	return a.decided, v
}

// Excluded reports whether other members have taken this one for dead. Then it agrees to nothing
// any more.
func (a *Node) Excluded() bool { return a.excluded }

// Dead returns the members that are taken for dead here.
func (a *Node) Dead() Set { return a.dead }

// Awaits returns the member for whose message this one waits in the agreement that is under way.
func (a *Node) Awaits() (place int, ok bool) {
	for number := a.decided; number <= a.decided+1; number++ {
		if i := a.open[number]; i != nil && i.under && !a.excluded {
			return i.from(), true
		}
	}
	return 0, false
}

// TakeOutgoing returns the messages that are to be sent, in order, once.
func (a *Node) TakeOutgoing() []Outgoing {
	l := a.outgoing
	a.outgoing = nil
	return l
}

// instance returns an agreement of those that may be under way.
func (a *Node) instance(number uint32) *instance {
	i := a.open[number]
	if i == nil {
		i = newInstance(number)
		a.open[number] = i
	}
	return i
}

// Down tells the node that a member has died or left.
func (a *Node) Down(place int) {
	if place == a.me || a.excluded || a.dead.Has(place) {
		return
	}
	a.dead = a.dead.With(place)
	a.again()
}

// again begins the attempts that are under way anew, in the present view.
func (a *Node) again() {
	for number := a.decided; number <= a.decided+1; number++ {
		if i := a.open[number]; i != nil && i.under {
			a.enter(i)
		}
	}
}

// Receive handles a message of a member.
func (a *Node) Receive(from int, m Message) {
	switch {
	case a.excluded || from == a.me:
	case m.Dead.Has(a.me):
		a.accused(from, m)
	case a.dead.Has(from):
		a.answer(from, m)
	default:
		a.hear(m)
		if !m.Excludes() {
			a.deliver(m)
		}
	}
}

// answer tells a member that is taken for dead so, unless its message only says the same of others.
func (a *Node) answer(to int, m Message) {
	if !m.Excludes() {
		a.exclude(to, a.dead)
	}
}

// exclude sends a message that tells a member which members are taken for dead.
func (a *Node) exclude(to int, dead Set) {
	a.outgoing = append(a.outgoing, Outgoing{to, Message{Round: -1, Dead: dead, best: estimate{size: -1}}})
}

// accused handles a message from a member in whose view this one is dead. If each takes the other
// for dead, they are on two sides, and the side with the first of all members goes on.
func (a *Node) accused(from int, m Message) {
	if a.dead.Has(from) && m.Dead.first(a.n) >= a.dead.first(a.n) {
		a.answer(from, m)
		return
	}
	a.excluded = true
	for _, place := range a.dead.Rest(a.n) {
		if place != a.me && place != from {
			a.exclude(place, m.Dead) // they would wait for this member in vain
		}
	}
}

// hear adds the view of another member to this one's, and tells the members that are new in it.
func (a *Node) hear(m Message) {
	if a.dead.Contains(m.Dead) {
		return
	}
	before := a.dead
	a.dead = a.dead.Union(m.Dead)
	for place := range a.n {
		if a.dead.Has(place) && !before.Has(place) {
			a.exclude(place, a.dead)
		}
	}
	a.again()
}

// deliver handles a message of an agreement, when hear has handled its view.
func (a *Node) deliver(m Message) {
	if m.Number < a.decided || m.Number > a.decided+ahead {
		return // all members that live have decided it, or the number is impossible
	}
	i := a.instance(m.Number)
	if m.Dead.Equal(a.dead) {
		i.keep(m)
	}
	if i.decided && !i.under && !i.view.Contains(m.Dead) {
		a.enter(i) // for members that have not decided yet
	}
	a.run(i)
}
