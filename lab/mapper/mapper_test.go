package mapper

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"weft/internal/sim"
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

// explore maps a network from a host, and compares the map with the network.
func explore(t testing.TB, n *fabric.Network, host int) (*Mapper, *Map) {
	t.Helper()
	m := New(NewWiring(sim.NewWorld(1), n, Costs{}), host)
	found, err := m.Explore()
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Same(n, host); err != nil {
		t.Fatal(err)
	}
	return m, found
}

// TestExplore: the map of a network of any kind is that network, from any host.
func TestExplore(t *testing.T) {
	for _, kind := range []string{"switch-tree", "switch-fattree", "switch-ring", "switch-random"} {
		for _, hosts := range []int{1, 2, 7, 20, 60} {
			for seed := range uint64(3) {
				n := generate(t, kind, 4+2*int(seed), hosts, seed)
				m, found := explore(t, n, int(seed)*7%hosts)
				if len(found.Net.Hosts) != hosts || len(found.Net.Links) != len(n.Links) {
					t.Errorf("%s for %d: %d hosts and %d of %d links", kind, hosts, len(found.Net.Hosts), len(found.Net.Links),
						len(n.Links))
				}
				if m.Stats.Hosts != hosts || m.Stats.Links != len(n.Links) || m.Stats.Sent() == 0 {
					t.Errorf("%+v", m.Stats)
				}
			}
		}
	}
}

// TestThousandHosts: a network of 1,000 hosts is found from one of them; three failed links are found with a scout
// for each link and a few more.
func TestThousandHosts(t *testing.T) {
	n := generate(t, "switch-random", 8, 1000, 1)
	m, found := explore(t, n, 500)
	for _, link := range []int{300, 1100, 1400} {
		n.Links[link].Down = true
	}
	v := m.Check(found)
	if err := found.Without(v).Same(n, 500); err != nil || len(v.Dead) != 3 || v.Scouts > len(n.Links)*11/10 {
		t.Errorf("%v: %d dead, %d scouts in %d rounds", err, len(v.Dead), v.Scouts, v.Rounds)
	}
}

// tangle links switches with few hosts, or none, at random: parallel links, links of a switch with itself, any
// ports.
func tangle(r *rand.Rand) *fabric.Network {
	n := fabric.New()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var open []fabric.End
	for i := range 2 + r.IntN(12) {
		s, err := n.AddSwitch(fmt.Sprintf("x%d", i), 2+r.IntN(fabric.MaxPorts-1))
		must(err)
		for p := range n.Switches[s].Ports {
			open = append(open, fabric.At(s, p))
		}
	}
	r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for i := range 1 + r.IntN(4) {
		h, err := n.AddHost(fmt.Sprintf("s%d", i)) // a name that a map could give to a switch
		must(err)
		_, err = n.Connect(fabric.AtHost(h), open[0])
		must(err)
		open = open[1:]
	}
	for len(open) > 1 && r.IntN(20) > 0 {
		_, err := n.Connect(open[0], open[1])
		must(err)
		open = open[2:]
	}
	return n
}

// TestTangles: the part of an arbitrary network that the mapper can reach is found, although only scouts can tell
// switches apart or recognize them.
func TestTangles(t *testing.T) {
	for seed := range uint64(100) {
		n := tangle(rand.New(rand.NewPCG(seed, 1)))
		m := New(NewWiring(sim.NewWorld(seed), n, Costs{}), 0)
		found, err := m.Explore()
		if err == nil {
			err = found.Same(n, 0)
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestSame: a map with a link too many, too few, or in another place is not the network.
func TestSame(t *testing.T) {
	n := generate(t, "switch-random", 8, 40, 3)
	_, found := explore(t, n, 0)
	for name, spoil := range map[string]func(n *fabric.Network){
		"few": func(n *fabric.Network) { n.Links[len(n.Links)-1].Down = true },
		"host": func(n *fabric.Network) {
			n.Hosts[3].Name = "h4"
			n.Hosts[4].Name = "h3"
		},
		"swap": func(n *fabric.Network) {
			a := &n.Links[len(n.Links)-1]
			b := &n.Links[len(n.Links)-2]
			a.B, b.B = b.B, a.B
			for id, l := range n.Links {
				for _, e := range []fabric.End{l.A, l.B} {
					if !e.IsHost() {
						n.Switches[e.Switch].Ports[e.Port] = id
					}
				}
			}
		},
	} {
		bad := &Map{Net: found.Net.Clone(), Host: found.Host}
		spoil(bad.Net)
		if bad.Same(n, 0) == nil {
			t.Errorf("%s: the map is taken for the network", name)
		}
		good := n.Clone()
		spoil(good)
		if found.Same(good, 0) == nil {
			t.Errorf("%s: the network is taken for the map", name)
		}
	}
}

// TestCheck: whichever links fail, Check finds the ones that can be found, and the links beyond them; the rest of
// the map is the network.
func TestCheck(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		kind := []string{"switch-tree", "switch-fattree", "switch-ring", "switch-random"}[seed%4]
		n := generate(t, kind, 8, 30+r.IntN(40), seed)
		m, found := explore(t, n, 0)
		if v := m.Check(found); len(v.Dead)+len(v.Beyond)+v.Lost != 0 || v.Rounds != 1 || v.Scouts != len(n.Links) {
			t.Fatalf("nothing has failed: %+v", v)
		}
		failed := 1 + r.IntN(3)
		for range failed {
			link := r.IntN(len(n.Links))
			for link == n.Hosts[0].Link {
				link = r.IntN(len(n.Links))
			}
			n.Links[link].Down = true
		}
		v := m.Check(found)
		if len(v.Dead) == 0 || len(v.Dead) > failed || v.Lost == 0 || v.Took <= 0 {
			t.Errorf("seed %d: %d failed, and %+v", seed, failed, v)
		}
		if err := found.Without(v).Same(n, 0); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestOwnLink: without its own link a mapper reaches nothing, and reports that.
func TestOwnLink(t *testing.T) {
	n := generate(t, "switch-ring", 8, 20, 0)
	m, found := explore(t, n, 5)
	n.Links[n.Hosts[5].Link].Down = true
	if v := m.Check(found); len(v.Dead) != 1 || len(v.Beyond) != len(n.Links)-1 {
		t.Errorf("%d dead, %d beyond", len(v.Dead), len(v.Beyond))
	}
	if _, err := m.Explore(); !errors.Is(err, ErrNoSwitch) {
		t.Errorf("%v", err)
	}
}

// TestFailureWhileExploring: a link that fails at any moment of the exploration is not
// on the map.
func TestFailureWhileExploring(t *testing.T) {
	whole := generate(t, "switch-fattree", 8, 30, 0)
	_, found := explore(t, whole, 0)
	restless := 0
	for step := range 20 {
		n := generate(t, "switch-fattree", 8, 30, 0)
		w := sim.NewWorld(1)
		m := New(NewWiring(w, n, Costs{}), 0)
		link := len(n.Links) - 1 - step%40
		w.After(found.Took*time.Duration(step)/20, func() { n.Links[link].Down = true })
		again, err := m.Explore()
		if errors.Is(err, ErrRestless) {
			restless++
			continue
		}
		if err == nil {
			err = again.Same(n, 0)
		}
		if err != nil {
			t.Errorf("link %d fails after %d/20: %v", link, step, err)
		}
	}
	if restless > 0 {
		t.Errorf("%d times one failure was too much", restless)
	}
}

// TestFailureAmongHostless: among switches without hosts a failure makes known switches look new, and then their
// neighbours; the mapper notices before that costs much.
func TestFailureAmongHostless(t *testing.T) {
	const side = 5
	torus := func() *fabric.Network {
		n := fabric.New()
		for i := range side * side {
			if _, err := n.AddSwitch(fmt.Sprintf("x%d", i), 5); err != nil {
				t.Fatal(err)
			}
		}
		connect := func(a, b fabric.End) {
			if _, err := n.Connect(a, b); err != nil {
				t.Fatal(err)
			}
		}
		for i := range side * side {
			row := i / side
			column := i % side
			connect(fabric.At(i, 0), fabric.At(row*side+(column+1)%side, 1))
			connect(fabric.At(i, 2), fabric.At((row+1)%side*side+column, 3))
		}
		host, err := n.AddHost("h")
		if err != nil {
			t.Fatal(err)
		}
		connect(fabric.AtHost(host), fabric.At(0, 4))
		return n
	}
	quiet, found := explore(t, torus(), 0)
	for step := range 20 {
		n := torus()
		w := sim.NewWorld(1)
		m := New(NewWiring(w, n, Costs{}), 0)
		w.After(found.Took*time.Duration(step)/20, func() { n.Links[step*2].Down = true })
		again, err := m.Explore()
		if err == nil {
			err = again.Same(n, 0)
		}
		if err != nil || m.Stats.Sent() > 4*quiet.Stats.Sent() {
			t.Errorf("after %d/20: %v; %d scouts, %d in a network that stays as it is", step, err, m.Stats.Sent(),
				quiet.Stats.Sent())
		}
	}
}

// TestOrder: the hosts on the map have the order of the network.
func TestOrder(t *testing.T) {
	n := generate(t, "switch-random", 8, 100, 5)
	_, found := explore(t, n, 42)
	for i, h := range found.Net.Hosts {
		if h.Name != n.Hosts[i].Name {
			t.Fatalf("host %d is %s on the map, %s in the network", i, h.Name, n.Hosts[i].Name)
		}
	}
	if found.Host != 42 || !strings.HasPrefix(found.Net.Switches[0].Name, "s") {
		t.Errorf("the mapper is host %d", found.Host)
	}
}
