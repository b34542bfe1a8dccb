package stress

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"weft"
)

// atomics: members do atomic operations on a few words of one of them, and tell the director what they saw. There must
// be an order of all operations in which each saw what it says.
func atomics(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	home := s.members[0]
	name := "atomics " + s.name
	count := s.scaled(20 + s.shared.IntN(200))
	var region *weft.Region
	if a.p.Rank() == home {
		a.call("Expose", func() (err error) { region, err = a.p.OpenRegion(a.ctx, name, 8*words, nil); return err })
	}
	var far *weft.Remote
	if a.call("Attach", func() (err error) { far, err = a.p.AttachRegion(a.ctx, home, name); return err }) == fine {
		history := make([]access, 0, count)
		for len(history) < count && a.access(far, &history) {
		}
		text, _ := json.Marshal(history)
		a.tell(note{Kind: noteWords, Rank: a.p.Rank(), Text: string(text), N: uint64(s.number), Ranks: s.members})
	}
	a.meet(s, "all is counted")
	if region != nil {
		a.call("Region.Close", region.Close)
	}
}

// words is how many words there are.
const words = 3

// An access is one atomic operation.
type access struct {
	Word         int
	Kind         int    // 0: addition, 1: swap, 2: compare and swap
	A, B         uint64 // few values are in use, so that some comparisons succeed
	Begun, Ended int64  // Ended is 0 if it is not known whether it was executed
	Saw          uint64
}

// access does an atomic operation, and reports whether to go on.
func (a *actor) access(far *weft.Remote, history *[]access) bool {
	x := access{Word: a.rng.IntN(words), Kind: a.rng.IntN(3), A: uint64(a.rng.IntN(8)), B: uint64(a.rng.IntN(8)),
		Begun: a.clock()}
	ctx := a.ctx
	if a.rng.IntN(4) == 0 {
		brief, cancel := a.brief(a.ctx)
		defer cancel()
		ctx = brief
	}
	err := a.do("an atomic operation", func() (err error) {
		switch x.Kind {
		case 0:
			x.Saw, err = far.FetchAdd(ctx, 8*x.Word, x.A)
		case 1:
			x.Saw, err = far.Swap(ctx, 8*x.Word, x.A)
		default:
			x.Saw, err = far.CompareSwap(ctx, 8*x.Word, x.A, x.B)
		}
		return err
	})
	switch v := a.judge("an atomic operation", err, ctx != a.ctx); {
	case v == fine:
		x.Ended = a.clock()
	case v == later && outcome(err) != "unknown":
		return true // it was not begun
	}
	*history = append(*history, x)
	return x.Ended > 0 || err != nil && a.ctx.Err() == nil && outcome(err) == "unknown"
}

// A counting is what the members of a scene have done to its words.
type counting struct {
	told int // members
	all  []access
}

// words notes what a member has done, and judges the words when all members have told.
func (d *director) words(n note) {
	c := d.countings[n.N]
	if c == nil {
		c = &counting{}
		d.countings[n.N] = c
	}
	var some []access
	_ = json.Unmarshal([]byte(n.Text), &some)
	c.told++
	c.all = append(c.all, some...)
	if c.told < len(n.Ranks) { // members that are struck tell nothing: what they have done is not known
		return
	}
	for w := range words {
		if !linear(w, c.all) {
			d.fail("the atomic operations on word %d of scene %d fit no order", w, n.N)
		}
	}
}

// linear reports whether there is an order of the accesses to a word in which each saw what it says. One of which it is
// not known whether it was executed may have been at any time since it began, or never: then its place is at the end.
func linear(word int, all []access) bool {
	var ops []porcupine.Operation
	last := int64(0)
	for _, x := range all {
		last = max(last, x.Begun, x.Ended)
	}
	for i, x := range all {
		if x.Word == word {
			end := x.Ended
			if end == 0 {
				end = last + 1
			}
			ops = append(ops, porcupine.Operation{ClientId: i, Input: x, Call: x.Begun, Output: x.Ended > 0, Return: end})
		}
	}
	return porcupine.CheckOperationsTimeout(wordModel, ops, 5*time.Second) != porcupine.Illegal
}

// wordModel is a word as it ought to be.
var wordModel = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, known any) (bool, any) {
		v := state.(uint64)
		x := input.(access)
		ok := !known.(bool) || x.Saw == v
		switch {
		case x.Kind == 0:
			v += x.A
		case x.Kind == 1:
			v = x.A
		case v == x.A:
			v = x.B
		}
		return ok, v
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(x, known any) string { return fmt.Sprintf("%+v, known: %v", x, known) },
}
