package switches

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/failure"
	"weft/internal/sim"
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// TestRoutes follows the route between all pairs on every kind of network: it arrives, over links that exist, in as few
// steps as a way up and down can have.
func TestRoutes(t *testing.T) {
	for text, n := range map[string]int{
		"file:fabric/testdata/paper003.links": 16, "switch-tree:4": 20, "switch-fattree:8": 30, "switch-ring:4": 10,
		"switch-random:8:3": 50,
	} {
		top, err := sim.ParseTopology(text, n, sim.Wire{})
		if err != nil {
			t.Fatal(err)
		}
		most := len(top.(*switched).net.Switches) + 2
		for a := range n {
			for b := range n {
				at := a
				for steps := 0; at != b; steps++ {
					next, link, _ := top.Next(a, at, b)
					if f, to := top.Ends(link); f != at || to != next || steps == most {
						t.Fatalf("%s: step %d from %d to %d: link %d joins %d and %d, the route says %d and %d", text, steps, a,
							b, link, f, to, at, next)
					}
					at = next
				}
			}
		}
	}
}

// TestSimulate: a program that imports this package runs on a network of switches.
func TestSimulate(t *testing.T) {
	c := weft.Cluster{Ranks: 12, Topology: "file:fabric/testdata/paper003.links"}
	s, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
		return p.Barrier("all", nil).Wait(ctx)
	})
	if err != nil || s.Packets == 0 || s.Topology != c.Topology {
		t.Errorf("%+v, %v", s, err)
	}
	c.Topology = "file:nowhere"
	var option *failure.OptionError
	_, err = weft.Simulate(t.Context(), c, func(context.Context, *weft.Proc) error { return nil })
	if !errors.As(err, &option) || option.Option != "Cluster.Topology" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// TestSwitchedRefused: a network of switches that does not fit the job is refused, and the error says why.
func TestSwitchedRefused(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "net.links")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + name
	}
	for _, c := range []struct{ text, want string }{
		{"file:nowhere", "no such file"},
		{write("switch a 4\nhost x a:4\n"), "net.links:2: switch a has no port"},
		{write("switch a 4\nhost x a:0\nhost y a:1\n"), "it has 2, the job 4"},
		{write("switch a 4\nswitch b 4\nhost w a:0\nhost x a:1\nhost y b:0\nhost z b:1\n"), "no path from w to y"},
		{"switch-star:8", "there is no kind"}, {"switch-tree", "names no network"}, {"switch-tree:x", "no number of ports"},
		{"switch-tree:8:1", "names no network"}, {"switch-random:8:x", "is no seed"},
		{"switch-ring:99", "generated switches have 4 to 16 ports"},
	} {
		if _, err := sim.ParseTopology(c.text, 4, sim.Wire{}); !errors.Is(err, failure.ErrOption) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestLayout: no two vertices are drawn at one place, even if some cannot be reached.
func TestLayout(t *testing.T) {
	n, err := fabric.Open("switch-random:8", 60)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []int{7, 30} {
		n.Links[n.Hosts[host].Link].Down = true
	}
	top := New("cut", n, updown.Find(n, updown.BreadthFirst(n, 0), updown.Rule{}), sim.Wire{}).(*switched)
	at := map[[2]float64]int{}
	for v, place := range top.places {
		if other, taken := at[place]; taken {
			t.Errorf("%d and %d are both at %v", v, other, place)
		}
		at[place] = v
	}
}
