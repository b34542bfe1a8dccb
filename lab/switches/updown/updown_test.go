package updown

import (
	"fmt"
	"slices"
	"testing"

	"weft/lab/switches/fabric"
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
			return Center(n, at.Switch)
		}
	}
	return 0
}

// legal returns the length of the shortest up*/down* route from a switch to each other, by exhaustive search; -1:
// none.
func legal(n *fabric.Network, o Order, from int) []int {
	type state struct {
		s    int
		down bool
	}
	g := newGraph(n)
	best := slices.Repeat([]int{-1}, len(n.Switches))
	far := map[state]int{{from, false}: 0}
	queue := []state{{from, false}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if best[at.s] < 0 {
			best[at.s] = far[at]
		}
		for _, h := range g.hops[at.s] {
			up := o.up(at.s, h.to)
			next := state{h.to, !up}
			if _, seen := far[next]; seen || up && at.down {
				continue
			}
			far[next] = far[at] + 1
			queue = append(queue, next)
		}
	}
	return best
}

// TestRoutes: every route leads from its host to the other, first up and then down, and no such route is shorter;
// where there is no route there is no path.
func TestRoutes(t *testing.T) {
	networks(t, func(name string, n *fabric.Network) {
		for _, o := range []Order{BreadthFirst(n, root(n)), DepthFirst(n, root(n))} {
			checkRoutes(t, name+", "+o.Kind, n, Find(n, o, Rule{}))
		}
	})
}

func checkRoutes(t *testing.T, name string, n *fabric.Network, r *Routes) {
	t.Helper()
	o := r.Order
	for a := range n.Hosts {
		home, there := n.Home(a)
		if !there {
			continue
		}
		least := legal(n, o, home.Switch)
		for b := range n.Hosts {
			way, ok := r.Between(a, b)
			end, here := n.Home(b)
			if !ok {
				if here && least[end.Switch] >= 0 && o.Level[home.Switch] >= 0 {
					t.Errorf("%s: no route from %d to %d", name, a, b)
				}
				continue
			}
			down := false
			for _, c := range way {
				from, to := c.Ends(n)
				up := o.up(from.Switch, to.Switch)
				if up && down {
					t.Errorf("%s: the route from %d to %d goes up again", name, a, b)
				}
				down = !up
			}
			if want := least[end.Switch]; len(way) != want {
				t.Errorf("%s: %d links from %d to %d, %d are enough", name, len(way), a, b, want)
			}
		}
	}
}

// TestCenter: the root is the switch with the smallest distance to its farthest switch.
func TestCenter(t *testing.T) {
	n := generate(t, "switch-tree", 4, 60, 0)
	far := func(s int) int { return slices.Max(BreadthFirst(n, s).Level) }
	c := Center(n, 0)
	for s := range n.Switches {
		if far(s) < far(c) {
			t.Errorf("from %d all are within %d, from %d within %d", s, far(s), c, far(c))
		}
	}
}
