package coord

import (
	"fmt"
	"math/bits"

	"weft/failure"
)

// Algorithm names a way to make a barrier.
type Algorithm uint8

// The algorithms.
const (
	Central         Algorithm = iota // all tell the first member, which tells all ([Hayakawa98]: master/slave)
	Tree                             // up a tree and down again ([Miyawaki01], with an arity of 2)
	Dissemination                    // [Hensgen88]
	Shuffle                          // butterfly, with satellites beyond a power of two ([Hayakawa98])
	ModifiedShuffle                  // pairs and neighbours on a torus ([Hayakawa98], repaired)
)

// String returns the algorithm's name.
func (a Algorithm) String() string {
	names := [...]string{"central", "tree", "dissemination", "shuffle exchange", "modified shuffle exchange"}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("unknown (%d)", uint8(a))
}

// A Plan is what one member does in each phase of a barrier. A gate opens when
// it has got all its inputs; then it sends inputs to other gates, and if it says
// Done the member may go on. The first gate gets one of its inputs when the
// member's own program arrives.
type Plan struct {
	Gates []Gate
	From  []int // members that send inputs to this one and are sent none
}

// A Gate is one step.
type Gate struct {
	Inputs int // 0: not used
	Sends  []Send
	Done   bool
}

// A Send is an input for a gate of a member.
type Send struct{ To, Gate int }

// unfit returns the error for an algorithm that cannot serve a group of n.
func unfit(a Algorithm, n int, why string) error {
	return &failure.PlanError{Algorithm: a.String(), N: n, Why: why}
}

// NewPlan returns the plan of member me of n.
func NewPlan(a Algorithm, n, arity, me int) (Plan, error) {
	switch {
	case n == 1:
		return Plan{Gates: []Gate{{Inputs: 1, Done: true}}}, nil
	case a == Central:
		return star(n, me), nil
	case a == Tree && arity < 2:
		return Plan{}, unfit(a, n, fmt.Sprintf("an arity of %d: it must be 2 or more", arity))
	case a == Tree:
		return tree(n, arity, me), nil
	case a == Dissemination:
		return dissemination(n, me), nil
	case a == Shuffle:
		return shuffle(n, me), nil
	case a == ModifiedShuffle:
		return modifiedShuffle(n, me), nil
	}
	return Plan{}, unfit(a, n, "there is no such algorithm")
}

// star returns the central plan: all members tell the first, which waits for its own
// program, too.
func star(n, me int) Plan {
	if me > 0 {
		return Plan{Gates: []Gate{{Inputs: 1, Sends: []Send{{0, 0}}}, {Inputs: 1, Done: true}}}
	}
	g := Gate{Inputs: n, Done: true}
	for i := 1; i < n; i++ {
		g.Sends = append(g.Sends, Send{i, 1})
	}
	return Plan{Gates: []Gate{g}}
}

// tree returns the plan of a tree: member i hears from k·i+1 … k·i+k, and tells (i-1)/k; then the other way
// round.
func tree(n, k, me int) Plan {
	up := Gate{Inputs: 1}
	var down []Send
	for c := k*me + 1; c <= k*me+k && c < n; c++ {
		up.Inputs++
		down = append(down, Send{c, 1})
	}
	if me == 0 {
		up.Done = true
		up.Sends = down
		return Plan{Gates: []Gate{up}}
	}
	up.Sends = []Send{{(me - 1) / k, 0}}
	return Plan{Gates: []Gate{up, {Inputs: 1, Sends: down, Done: true}}}
}

// dissemination returns the plan in which, in round r, member i tells i+2^r.
func dissemination(n, me int) Plan {
	return rounds(bits.Len(uint(n-1)), me,
		func(r int) int { return (me + 1<<r) % n }, func(r int) int { return (me - 1<<r%n + n) % n })
}

// shuffle returns the plan in which, in round r, members whose numbers differ in bit r tell each other. The members
// beyond the greatest power of two are satellites: member core+i tells member i before the rounds, and hears from it
// after them.
func shuffle(n, me int) Plan {
	core := 1 << (bits.Len(uint(n)) - 1)
	if me >= core {
		return Plan{Gates: []Gate{{Inputs: 1, Sends: []Send{{me - core, 0}}}, {Inputs: 1, Done: true}}}
	}
	with := func(r int) int { return me ^ 1<<r }
	p := rounds(bits.Len(uint(core-1)), me, with, with)
	if satellite := core + me; satellite < n {
		p.Gates[0].Inputs++
		end := &p.Gates[len(p.Gates)-1]
		end.Sends = append(end.Sends, Send{satellite, 1})
	}
	return p
}

// rounds is a plan of rounds, in each of which a member tells one and hears from
// one. Round r ends with gate r+1.
func rounds(count, me int, to, from func(r int) int) Plan {
	p := Plan{Gates: make([]Gate, count+1)}
	p.Gates[0].Inputs = 1
	told := map[int]bool{}
	for r := range count {
		p.Gates[r].Sends = []Send{{to(r), r + 1}, {me, r + 1}}
		p.Gates[r+1].Inputs = 2
		told[to(r)] = true
	}
	for r := range count {
		if f := from(r); !told[f] {
			p.From = append(p.From, f)
		}
	}
	p.Gates[count].Done = true
	return p
}
