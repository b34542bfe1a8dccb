package barrierplan

import (
	"testing"
	"time"

	"weft/internal/engine/coord"
	"weft/internal/explore"
	"weft/lab/hwmodel"
)

// Members of the modified shuffle exchange are on neighbouring nodes at every size from 17 to 4,096: each pair side by
// side, satellites as near as may be, which is beside their members up to 48, and no more hops in sequence than the
// sides of the torus need. Here are the small sizes and some of the others; exploration has all. By the order of their
// numbers, 17, 22, 32 and 64 took 18, 24, 16 and 33 hops.
func TestPlace(t *testing.T) {
	for n := 17; n <= 4096; n++ {
		if n > 200 && n%257 != 0 && explore.Round() == 0 {
			continue
		}
		p := Place(n)
		p.check(t, n)
		hops := p.longest(t, n)
		sides := p.Rows + p.Columns
		if 3*hops > 2*sides+8 || n <= 36 && hops > 7 || n <= 48 && (hops > 8 || p.Radius > 1) {
			t.Errorf("%d, on %d × %d: %d hops, satellites %d", n, p.Rows, p.Columns, hops, p.Radius)
		}
	}
	for n, hops := range map[int]int{17: 7, 22: 7, 32: 7, 36: 6, 48: 8, 64: 12, 1024: 44, 4096: 86} {
		r, err := Run(Case{Algorithm: coord.ModifiedShuffle, N: n, Topology: "torus", Wire: event, Size: 16})
		if err != nil || r.Longest != hops || r.Time != time.Duration(hops)*event.Delay || hops != Place(n).longest(t, n) {
			t.Errorf("%d: %+v, want %d hops; %v", n, r, hops, err)
		}
	}
}

// check fails the test if two members are on one node, a pair is apart, a satellite is beyond the radius, or a torus
// with smaller sides would do.
func (p Placing) check(t *testing.T, n int) {
	r, c := coord.Torus(n)
	used := make([]bool, p.Rows*p.Columns)
	for _, at := range p.Node {
		if used[at] {
			t.Fatalf("%d: node %d twice", n, at)
		}
		used[at] = true
	}
	if less := p.Rows + p.Columns - 1; less*less >= 4*n && n > 36 {
		t.Errorf("%d: %d × %d", n, p.Rows, p.Columns)
	}
	for m := range r * c {
		across := m + 1
		down := m + c
		if m%c%2 == 0 && across%c != 0 && p.hops(m, across) != 1 || m/c%2 == 0 && down < r*c && p.hops(m, down) != 1 {
			t.Errorf("%d: member %d is no neighbour of its pair", n, m)
		}
	}
	for s := r * c; s < n; s++ {
		if p.hops(s, s%(r*c)) > p.Radius {
			t.Errorf("%d: satellite %d is farther than %d from its member", n, s, p.Radius)
		}
	}
}

// hops returns how far two members are from each other.
func (p Placing) hops(a, b int) int {
	return hwmodel.TorusHops(p.Rows, p.Columns, p.Node[a], p.Node[b])
}

// longest returns the most hops in sequence, without a network, from the members' plans.
func (p Placing) longest(t *testing.T, n int) (hops int) {
	r, c := coord.Torus(n)
	core := r * c
	plans := make([]coord.Plan, core)
	left := make([][]int, core)
	late := make([][]int, core)
	for m := range plans {
		var err error
		if plans[m], err = coord.NewPlan(coord.ModifiedShuffle, n, 0, m); err != nil {
			t.Fatal(err)
		}
		late[m] = make([]int, len(plans[m].Gates))
		for _, g := range plans[m].Gates {
			left[m] = append(left[m], g.Inputs)
		}
	}
	var input func(m, gate, after int)
	input = func(m, gate, after int) {
		late[m][gate] = max(late[m][gate], after)
		if left[m][gate]--; left[m][gate] > 0 {
			return
		}
		hops = max(hops, late[m][gate])
		for _, s := range plans[m].Gates[gate].Sends {
			after := late[m][gate] + p.hops(m, s.To)
			if s.To < core {
				input(s.To, s.Gate, after)
				continue
			}
			hops = max(hops, after) // to a satellite, which goes on
		}
	}
	for m := range n {
		input(m%core, 0, p.hops(m, m%core))
	}
	return hops
}

// The steps of [Hayakawa98] as they are printed work on sides of 2, 4 and 6. On an odd side most nodes wait for ever,
// and the others go on before all have arrived, since the first node of a ring is told twice; on longer ones all do.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		topology               string
		n                      int
		stuck, unpaired, early int
	}{
		{"torus:2x2", 4, 0, 0, 0}, {"torus:4x4", 16, 0, 0, 0}, {"torus:4x6", 24, 0, 0, 0}, {"torus:6x6", 36, 0, 0, 0},
		{"torus:5x5", 25, 21, 7, 4}, {"torus:4x5", 20, 12, 4, 8}, {"torus:6x5", 30, 18, 6, 12}, {"torus:8x8", 64, 0, 0, 64},
	} {
		r, err := Run(Case{N: c.n, Topology: c.topology, Printed: true, Wire: event, Size: 16})
		if err != nil || r.Stuck != c.stuck || r.Unpaired != c.unpaired || r.Early != c.early {
			t.Errorf("%s: %d stuck, %d unpaired, %d early, want %d, %d, %d; %v", c.topology, r.Stuck, r.Unpaired, r.Early,
				c.stuck, c.unpaired, c.early, err)
		}
	}
	r, _ := Run(Case{N: 36, Topology: "torus:6x6", Printed: true, Wire: event, Size: 16})
	if r.Time != 18*time.Microsecond {
		t.Errorf("%+v", r)
	}
}

// The paper's choice changes at 17 and at 37 nodes.
func TestChosen(t *testing.T) {
	for n, want := range map[int]coord.Algorithm{
		2: coord.Shuffle, 16: coord.Shuffle, 17: coord.ModifiedShuffle, 36: coord.ModifiedShuffle, 37: coord.Central,
	} {
		if got := Chosen(n); got != want {
			t.Errorf("%d nodes: %v, want %v", n, got, want)
		}
	}
}
