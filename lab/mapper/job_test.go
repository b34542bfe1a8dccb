package mapper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/sim"
	_ "weft/lab/switches" // file:NAME as a topology
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// writeLinks writes a network into a file of links.
func writeLinks(t testing.TB, n *fabric.Network) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "links")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return "file:" + name
}

// TestJobByMap: a job runs on a network and finds its way by the map that a mapper has made of it, in which switches
// have other names and ports other numbers. A map of another network, or one that is older than a failure, is refused.
func TestJobByMap(t *testing.T) {
	n := generate(t, "switch-random", 8, 20, 3)
	_, found := explore(t, n, 7)
	home, _ := found.Net.Home(0)
	routes, err := updown.Best(found.Net, home.Switch).On(n)
	if err != nil {
		t.Fatal(err)
	}
	routes.Each(func(from, host, _ int, way []updown.Channel) {
		at := from
		for _, c := range way {
			a, b := c.Ends(n)
			if a.Switch != at {
				t.Fatalf("the way to %s goes on at another switch", n.Hosts[host].Name)
			}
			at = b.Switch
		}
		if last, _ := n.Home(host); last.Switch != at {
			t.Errorf("the way to %s ends at another switch", n.Hosts[host].Name)
		}
	})
	truth := writeLinks(t, n)
	byMap := truth + " by " + writeLinks(t, found.Net)
	s, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 20, Topology: byMap},
		func(ctx context.Context, p *weft.Proc) error {
			q, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			for to := range p.Size() {
				if err := q.Send(ctx, to, fmt.Append(nil, p.Rank())); err != nil {
					return err
				}
			}
			for range p.Size() {
				m, err := q.Recv(ctx)
				if err != nil || string(m.Data) != fmt.Sprint(m.From) {
					return fmt.Errorf("%q of rank %d, %w", m.Data, m.From, err)
				}
				m.Release()
			}
			return nil
		})
	if err != nil || s.Messages != 400 {
		t.Fatal(s, err)
	}
	if _, err := sim.ParseTopology(truth+" by switch-ring:4", 20, sim.Wire{}); !errors.As(err, new(*updown.MapError)) {
		t.Errorf("the map of another network: %v", err)
	}
	n.Links[between(n)].Down = true
	if _, err := updown.Best(found.Net, home.Switch).On(n); !errors.As(err, new(*updown.MapError)) {
		t.Errorf("the map of before a failure: %v", err)
	}
}

// between returns a link between two switches.
func between(n *fabric.Network) int {
	for i, l := range n.Links {
		if !l.A.IsHost() && !l.B.IsHost() {
			return i
		}
	}
	return fabric.NoLink
}
