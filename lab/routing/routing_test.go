package routing

import (
	"fmt"
	"os"
	"testing"

	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

func generate(t testing.TB, kind string, ports, hosts int, seed uint64) *fabric.Network {
	t.Helper()
	n, err := fabric.Generate(kind, ports, hosts, seed)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// networks are many small networks of all kinds, some with links that are down.
func networks(t testing.TB, f func(name string, n *fabric.Network)) {
	for _, kind := range []string{"switch-tree", "switch-fattree", "switch-ring", "switch-random"} {
		for seed := range uint64(12) {
			hosts := 5 + int(seed)*3
			n := generate(t, kind, 4+int(seed%3)*2, hosts, seed)
			f(fmt.Sprintf("%s for %d hosts, seed %d", kind, hosts, seed), n)
			if seed%2 == 1 {
				cut := n.Clone()
				cut.Links[int(seed*7)%len(cut.Links)].Down = true
				f(fmt.Sprintf("%s for %d hosts, seed %d, a link down", kind, hosts, seed), cut)
			}
		}
	}
}

// root returns the switch of the first host that has one.
func root(n *fabric.Network) int {
	for h := range n.Hosts {
		if at, ok := n.Home(h); ok {
			return updown.Center(n, at.Switch)
		}
	}
	return 0
}

// TestTurns: the source route between two hosts leads from one to the other.
func TestTurns(t *testing.T) {
	networks(t, func(name string, n *fabric.Network) {
		r := updown.Find(n, updown.BreadthFirst(n, root(n)), updown.Rule{})
		for a := range n.Hosts {
			for b := range n.Hosts {
				turns, ok := Turns(r, a, b)
				if at, came := Follow(n, a, turns); ok && (!came || at != fabric.AtHost(b)) {
					t.Errorf("%s: the turns %v lead from %d to %+v, not to %d", name, turns, a, at, b)
				}
			}
		}
	})
}

// TestNoCycle: packets on up*/down* routes never wait in a cycle.
func TestNoCycle(t *testing.T) {
	networks(t, func(name string, n *fabric.Network) {
		for _, first := range []bool{false, true} {
			for _, o := range []updown.Order{updown.BreadthFirst(n, root(n)), updown.DepthFirst(n, root(n))} {
				if c := DependenciesOf(updown.Find(n, o, updown.Rule{First: first})).Cycle(); c != nil {
					t.Errorf("%s, %s: %v", name, o.Kind, c)
				}
			}
		}
	})
}

// TestCycleIsFound: on a ring of six switches packets on the shortest routes can wait in a cycle, and each channel
// of the cycle that is returned leads to the next.
func TestCycleIsFound(t *testing.T) {
	n := generate(t, "switch-ring", 4, 12, 0)
	r := updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{Shortest: true})
	c := DependenciesOf(r).Cycle()
	if len(c) != 6 {
		t.Fatalf("a circle of %d channels", len(c))
	}
	for i := range c {
		_, to := c[i].Ends(n)
		from, _ := c[(i+1)%len(c)].Ends(n)
		if to.Switch != from.Switch {
			t.Errorf("channel %d leads to switch %d, the next begins at %d", i, to.Switch, from.Switch)
		}
	}
	if c := DependenciesOf(updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{})).Cycle(); c != nil {
		t.Errorf("up and down: %v", c)
	}
}

// TestMeasure: on a ring of six switches only its neighbours use the link opposite to the root, and some routes are
// twice as long as necessary.
func TestMeasure(t *testing.T) {
	n := generate(t, "switch-ring", 4, 12, 0)
	shortest := updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{Shortest: true})
	m := Measure(shortest, shortest)
	hops := m.Hops * float64(m.Pairs)
	if m.Stretch != 1 || hops != 12*2*(1+1+2+2+3) || m.Channels != 12 || m.Longest != 3 || m.Pairs != 12*11 {
		t.Errorf("shortest: %+v", m)
	}
	m = Measure(updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{}), shortest)
	if m.Stretch <= 1 || m.MostStretch != 2 || m.Longest != 4 || m.Apart != 0 {
		t.Errorf("%+v", m)
	}
	tree := generate(t, "switch-tree", 8, 100, 0)
	shortest = updown.Find(tree, updown.BreadthFirst(tree, 0), updown.Rule{Shortest: true})
	if m := Measure(updown.Find(tree, updown.BreadthFirst(tree, root(tree)), updown.Rule{}), shortest); m.Stretch != 1 {
		t.Errorf("a tree has one way: %+v", m)
	}
}

// TestBalance: where there are several paths, all are used. In a fat tree no link has much more load than the
// average, but it has if the first path is always taken.
func TestBalance(t *testing.T) {
	n := generate(t, "switch-fattree", 8, 64, 0)
	o := updown.BreadthFirst(n, root(n))
	shortest := updown.Find(n, o, updown.Rule{Shortest: true})
	even := Measure(updown.Find(n, o, updown.Rule{}), shortest)
	first := Measure(updown.Find(n, o, updown.Rule{First: true}), shortest)
	if float64(first.MostLoad) < 2*float64(even.MostLoad) {
		t.Errorf("%+v, always the first %+v", even, first)
	}
}

// TestDown: routes avoid a link that is down, hosts without a path are counted, and only pairs whose route took the
// link have another route.
func TestDown(t *testing.T) {
	f, err := os.Open("../switches/fabric/testdata/paper003.links")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := fabric.Parse("paper003", f)
	if err != nil {
		t.Fatal(err)
	}
	before := updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{})
	cut := n.Clone()
	for _, name := range []string{"b:6", "n0"} {
		link, err := cut.FindLink(name)
		if err != nil {
			t.Fatal(err)
		}
		cut.Links[link].Down = true
	}
	after := updown.Find(cut, updown.BreadthFirst(cut, 0), updown.Rule{})
	other, lost := Changed(after, before)
	m := Measure(after, updown.Find(cut, updown.BreadthFirst(cut, 0), updown.Rule{Shortest: true}))
	if other < 32 || lost != 30 || m.Apart != 30 || m.Pairs != 15*14 || m.Longest != 2 {
		t.Errorf("%d have another route, %d none: %+v", other, lost, m)
	}
	for a := range 4 {
		if way, _ := after.Between(4+a, 8); len(way) != 2 {
			t.Errorf("the way round is %v", way)
		}
	}
	if again, _ := Changed(updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{}), before); again != 0 {
		t.Error("the same network has other routes the second time")
	}
}

// TestBest: in an irregular network a depth-first order leaves the root less load, in a fat tree a breadth-first
// one does; Best takes the better.
func TestBest(t *testing.T) {
	for kind, want := range map[string]string{"switch-random": "depth-first", "switch-fattree": "breadth-first",
		"switch-tree": "breadth-first"} {
		n := generate(t, kind, 8, 300, 1)
		if r := updown.Best(n, 0); r.Order.Kind != want || DependenciesOf(r).Cycle() != nil {
			t.Errorf("%s: %s", kind, r.Order.Kind)
		}
	}
}

// TestReroute: where the order can be kept, old and new routes together have no cycle, and every pair of hosts that
// has a path has a route.
func TestReroute(t *testing.T) {
	kept := 0
	renewed := 0
	for seed := range uint64(60) {
		n := generate(t, []string{"switch-random", "switch-fattree", "switch-ring"}[seed%3], 8, 60, seed)
		before := updown.Best(n, 0)
		left := n.Clone()
		for i := range 1 + int(seed)%4 {
			left.Links[(int(seed)*31+i*17)%len(left.Links)].Down = true
		}
		near := root(left)
		r, same := Reroute(before, left, near)
		if same {
			kept++
			if c := DependenciesOf(r).With(DependenciesOf(before)).Cycle(); c != nil {
				t.Errorf("seed %d: old and new routes: %v", seed, c)
			}
		} else {
			renewed++
		}
		all := updown.Find(left, r.Order, updown.Rule{Shortest: true})
		if m := Measure(r, all); m.Apart != Measure(all, all).Apart || DependenciesOf(r).Cycle() != nil {
			t.Errorf("seed %d: %+v", seed, m)
		}
	}
	if kept == 0 || renewed == 0 {
		t.Errorf("kept %d times, renewed %d times", kept, renewed)
	}
}

// TestWith: two sets of routes, each without a cycle, may have one together.
func TestWith(t *testing.T) {
	n := generate(t, "switch-ring", 4, 12, 0)
	a := DependenciesOf(updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{}))
	b := DependenciesOf(updown.Find(n, updown.BreadthFirst(n, 3), updown.Rule{}))
	if a.Cycle() != nil || b.Cycle() != nil || a.With(b).Cycle() == nil {
		t.Error("routes around two opposite switches of a ring have no circle together")
	}
}
