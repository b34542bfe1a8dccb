package coord

import (
	"math/bits"
	"testing"
)

// A walk runs the plans of all members of a group, in rounds, as a network would
// in which every message takes one step.
type walk struct {
	messages, depth int // depth: of the last member to be done
	complete        bool
}

// run lets all members arrive but the late one, and reports which members are done
// then. It goes on when the late one has arrived, too.
func run(t *testing.T, a Algorithm, n, arity, late int) (w walk) {
	t.Helper()
	plans := make([]Plan, n)
	left := make([][]int, n)
	for i := range n {
		p, err := NewPlan(a, n, arity, i)
		if err != nil {
			t.Fatal(err)
		}
		plans[i] = p
		for _, g := range p.Gates {
			left[i] = append(left[i], g.Inputs)
		}
	}
	type input struct{ to, gate, at int }
	var queue []input
	done := 0
	step := 0
	put := func(in input) { queue = append(queue, in) }
	drain := func() {
		for len(queue) > 0 {
			in := queue[0]
			queue = queue[1:]
			left[in.to][in.gate]--
			switch l := left[in.to][in.gate]; {
			case l > 0:
				continue
			case l < 0:
				t.Fatalf("%v of %d: gate %d of %d gets too many inputs", a, n, in.gate, in.to)
			}
			g := plans[in.to].Gates[in.gate]
			if g.Done {
				done++
				w.depth = max(w.depth, in.at)
			}
			for _, s := range g.Sends {
				if s.To == in.to {
					queue = append([]input{{s.To, s.Gate, in.at}}, queue...)
					continue
				}
				w.messages++
				put(input{s.To, s.Gate, in.at + 1})
			}
		}
	}
	for i := range n {
		if i != late {
			put(input{i, 0, step})
		}
	}
	drain()
	if late >= 0 && done > 0 {
		t.Fatalf("%v of %d: %d are done before %d has arrived", a, n, done, late)
	}
	if late >= 0 {
		put(input{late, 0, step})
		drain()
	}
	w.complete = done == n
	for i := range n {
		for g, l := range left[i] {
			if l != 0 {
				t.Fatalf("%v of %d: gate %d of %d still waits for %d", a, n, g, i, l)
			}
		}
	}
	return w
}

func log2(n int) int { return bits.Len(uint(n - 1)) }

// Nobody leaves before all have arrived, everybody leaves then, with as many
// messages, and after as many hops, as the formulas say.
func TestPlans(t *testing.T) {
	for n := 1; n <= 80; n++ {
		if n > 20 && n%8 > 1 {
			continue
		}
		core := 1 << (bits.Len(uint(n)) - 1) // the others are satellites, with a message each way
		folded := log2(core)
		if n > core {
			folded++
		}
		if n-core > core/2 { // the members that are farthest apart both have one
			folded++
		}
		for _, c := range []struct {
			a               Algorithm
			arity           int
			messages, depth int
		}{
			{Central, 0, 2 * (n - 1), 2},
			{Tree, 2, 2 * (n - 1), 2 * (bits.Len(uint(n)) - 1)},
			{Tree, 5, 2 * (n - 1), -1},
			{Dissemination, 0, n * log2(n), log2(n)},
			{Shuffle, 0, core*log2(core) + 2*(n-core), folded},
			{ModifiedShuffle, 0, -1, -1},
		} {
			w := run(t, c.a, n, c.arity, -1)
			if !w.complete || c.messages >= 0 && w.messages != c.messages || n > 1 && c.depth >= 0 && w.depth != c.depth {
				t.Errorf("%v of %d: %+v, want %d messages, %d deep", c.a, n, w, c.messages, c.depth)
			}
			for late := range n {
				if !run(t, c.a, n, c.arity, late).complete {
					t.Errorf("%v of %d, %d late: not complete", c.a, n, late)
				}
			}
		}
	}
}

// The modified shuffle exchange sends as many packets as an independent count of the repaired algorithm
// says.
func TestModifiedShufflePackets(t *testing.T) {
	for n, want := range map[int]walk{
		4: {8, 2, true}, 9: {48, 0, true}, 16: {96, 6, true}, 20: {116, 0, true}, 25: {140, 0, true}, 30: {174, 0, true},
		36: {216, 6, true}, 37: {218, 7, true}, 17: {98, 7, true},
	} {
		w := run(t, ModifiedShuffle, n, 0, -1)
		if want.depth == 0 {
			want.depth = w.depth
		}
		if w != want {
			t.Errorf("%d: %+v, want %+v", n, w, want)
		}
	}
	if r, c := Torus(19); r != 3 || c != 6 {
		t.Errorf("19 members: a torus of %d × %d", r, c)
	}
}
