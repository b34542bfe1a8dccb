package agreement

import (
	"math/bits"
	"slices"
)

// An instance is one agreement as one member sees it.
type instance struct {
	number   uint32
	own      Value    // this member's contribution
	accepted estimate // in the largest view in which it has accepted one
	decided  bool

	// The attempt that is under way, or was the last.
	under    bool // it is under way
	view     Set
	living   []int // the members that live in the view
	at       int   // where this member is among them
	rounds   int   // of each half
	round    int   // the next one of both halves
	sent     bool  // in this round
	gathered bool  // the first half is over
	sum      Value // of the contributions that are known
	best     estimate

	in     map[int]Message // what has arrived, by round, of the attempt of the view that follows
	inView Set
}

func newInstance(number uint32) *instance {
	return &instance{number: number, accepted: estimate{size: -1}, in: map[int]Message{}}
}

// keep keeps a message of the present view for its round. Of several messages of one round the
// first counts.
func (i *instance) keep(m Message) {
	i.only(m.Dead)
	if _, have := i.in[m.Round]; !have && m.Round < 2*maxRounds {
		i.in[m.Round] = m
	}
}

// only forgets messages of other views.
func (i *instance) only(view Set) {
	if !i.inView.Equal(view) {
		clear(i.in)
	}
	i.inView = view
}

// enter begins an attempt in the present view.
func (a *Node) enter(i *instance) {
	i.under = true
	i.view = a.dead
	i.living = a.dead.Rest(a.n)
	i.at, _ = slices.BinarySearch(i.living, a.me)
	i.rounds = bits.Len(uint(len(i.living) - 1))
	i.round = 0
	i.sent = false
	i.gathered = false
	i.sum = i.own
	i.best = i.accepted
	i.only(a.dead)
	a.run(i)
}

// hop returns the distance of the messages in the present round.
func (i *instance) hop() int { return 1 << (i.round % i.rounds) }

// to returns the member to which this one sends in the present round.
func (i *instance) to() int { return i.living[(i.at+i.hop())%len(i.living)] }

// from returns the member from which this one receives in the present round.
func (i *instance) from() int { return i.living[(i.at-i.hop()+len(i.living))%len(i.living)] }

// run advances as far as the messages that have arrived allow.
func (a *Node) run(i *instance) {
	for i.under {
		if i.round == i.rounds && !i.gathered {
			i.accept()
		}
		if i.round == 2*i.rounds {
			a.decide(i)
			return
		}
		if !i.sent {
			i.sent = true
			a.outgoing = append(a.outgoing, Outgoing{i.to(),
				Message{Number: i.number, Round: i.round, Dead: i.view, sum: i.sum, best: i.best}})
		}
		m, ok := i.in[i.round]
		if !ok {
			return
		}
		if !i.gathered {
			i.gather(m)
		}
		i.round++
		i.sent = false
	}
}

// gather adds what another member has heard.
func (i *instance) gather(m Message) {
	i.sum = i.sum.merge(m.sum)
	if m.best.compare(i.best) > 0 {
		i.best = m.best
	}
}

// accept computes the value from the contributions of all members. All have heard the same, and
// compute the same.
func (i *instance) accept() {
	i.gathered = true
	v := i.best.Value
	if i.best.size < 0 {
		v = i.sum
		v.Dead = i.view
	}
	i.best = estimate{v, i.view.Len()}
	i.accepted = i.best
}

// decide ends an attempt whose last round is over.
func (a *Node) decide(i *instance) {
	i.under = false
	if i.decided {
		return // the attempt was for other members only
	}
	i.decided = true
	a.decided = i.number
	delete(a.open, i.number-1)
}
