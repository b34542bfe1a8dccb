package amt

import (
	"cmp"
	"slices"
)

// Auto decides while a job runs which senders have rings of their own at one
// receiver. It counts what arrives; each Decide looks at what has come since the
// last one, and remembers half of what it knew. What it decides follows from the
// calls alone.
//
// A share is what each ring would bring if all rings, the shared one among them, were
// used alike. A sender that brings at least half a share gets a ring. If none is free,
// it takes the ring of the owner that sends least, provided that it sends twice as much.
// An owner that brings less than a quarter of a share loses its ring; while no messages
// arrive, no owner does. In between nothing changes, so two senders that send alike do
// not take a ring from each other.
type Auto struct {
	most    int
	senders map[int]*heard
	total   uint64 // of the weights
	owners  int
}

// A heard is what Auto knows of a sender.
type heard struct {
	rank    int
	fresh   uint64 // messages since the last Decide
	weight  uint64 // of all messages; each Decide halves it
	largest int
	own     bool
}

// A Change gives a sender a ring of its own, or takes it away.
type Change struct {
	Sender  int
	Own     bool
	Largest int // bytes of its largest message so far
}

// fewest is how many messages a sender must bring between two looks, on average,
// to be worth a ring.
const fewest = 8

// NewAuto returns a policy for a receiver with up to so many rings besides the
// shared one.
func NewAuto(rings int) *Auto {
	return &Auto{most: max(rings, 0), senders: map[int]*heard{}}
}

// Arrived counts a message.
func (a *Auto) Arrived(sender, bytes int) {
	s := a.senders[sender]
	if s == nil {
		s = &heard{rank: sender}
		a.senders[sender] = s
	}
	s.fresh++
	s.largest = max(s.largest, bytes)
}

// Down forgets a sender that has died, whose ring is free again.
func (a *Auto) Down(sender int) {
	if s := a.senders[sender]; s != nil && s.own {
		a.owners--
	}
	delete(a.senders, sender)
}

// Own reports whether a sender has a ring of its own.
func (a *Auto) Own(sender int) bool {
	s := a.senders[sender]
	return s != nil && s.own
}

// Decide looks at what has arrived, and returns what should change: first the senders that
// lose a ring, then the senders that get one, each in order of rank.
func (a *Auto) Decide() []Change {
	owners, others := a.look()
	share := a.total / uint64(2*(a.most+1))
	need := max(share, 2*fewest)
	var lost, won []Change
	for _, s := range slices.Clone(owners) {
		if s.weight < share/4 {
			lost = append(lost, a.set(s, false))
			owners = owners[1:] // they come by weight
		}
	}
	for _, s := range others {
		if s.weight < need {
			break
		}
		if a.owners == a.most {
			if len(owners) == 0 || s.weight < 2*owners[0].weight {
				break
			}
			lost = append(lost, a.set(owners[0], false))
			owners = owners[1:]
		}
		won = append(won, a.set(s, true))
	}
	byRank := func(x, y Change) int { return cmp.Compare(x.Sender, y.Sender) }
	slices.SortFunc(lost, byRank)
	slices.SortFunc(won, byRank)
	return append(lost, won...)
}

// look brings the weights up to date, and returns the owners, the least first, and
// the others, the greatest first. It forgets senders that have become silent.
func (a *Auto) look() (owners, others []*heard) {
	a.total = 0
	for rank, s := range a.senders {
		s.weight = s.weight/2 + s.fresh
		s.fresh = 0
		a.total += s.weight
		switch {
		case s.own:
			owners = append(owners, s)
		case s.weight == 0:
			delete(a.senders, rank)
		default:
			others = append(others, s)
		}
	}
	slices.SortFunc(owners, func(x, y *heard) int {
		return cmp.Or(cmp.Compare(x.weight, y.weight),
			cmp.Compare(y.rank, x.rank))
	})
	slices.SortFunc(others, func(x, y *heard) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight),
			cmp.Compare(x.rank, y.rank))
	})
	return owners, others
}

// set gives a sender a ring, or takes it away, and returns the change.
func (a *Auto) set(s *heard, own bool) Change {
	s.own = own
	if own {
		a.owners++
	} else {
		a.owners--
	}
	return Change{s.rank, own, s.largest}
}
