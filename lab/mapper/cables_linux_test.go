package mapper

import (
	"strings"
	"testing"

	"weft/lab/netlab/netlabtest"
	"weft/lab/switches/fabric"
)

// paperCluster is the network of [Konishi97]: 16 hosts at 4 switches, each linked with each other.
func paperCluster(t testing.TB) *fabric.Network {
	t.Helper()
	n, err := fabric.Open("file:../switches/fabric/testdata/paper003.links", 16)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCables: on a laboratory of network namespaces a mapper finds the paper's network, from hosts at two switches.
// When a link between switches is turned off, and one of a host, it finds these two, and the map of what is left.
func TestCables(t *testing.T) {
	netlabtest.Need(t)
	n := paperCluster(t)
	c, err := Lay(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, host := range []int{0, 9} {
		m := New(c, host)
		found, err := m.Explore()
		if err != nil {
			t.Fatal(err)
		}
		if err := found.Same(n, host); err != nil {
			t.Fatal(err)
		}
		t.Logf("from %s: %+v in %v", n.Hosts[host].Name, m.Stats, found.Took)
		if host == 0 {
			continue
		}
		off := []int{n.Hosts[3].Link, between(n)}
		for _, link := range off {
			n.Links[link].Down = true
			if err := c.SetUp(link, false); err != nil {
				t.Fatal(err)
			}
		}
		v := m.Check(found)
		if len(v.Dead) != 2 || len(v.Beyond) != 0 {
			t.Fatalf("of 2 links that are off the mapper finds %+v", v)
		}
		if err := found.Without(v).Same(n, host); err != nil {
			t.Error(err)
		}
	}
}

// A frame that is cut off anywhere is none.
func TestFlightsCut(t *testing.T) {
	b := []byte(strings.Repeat("\xff", 12) + "\x88\xb5" + "\x01\x00\x00\x00\x07\x00\x00\x02\x01" + "\x01\xff\x02")
	if f, ok := parseFlight(b); !ok || len(f.turns) != 2 || len(f.back) != 1 || f.turns[1] != -1 || f.id != 7 {
		t.Fatalf("%+v, %v", f, ok)
	}
	for n := range b {
		if f, ok := parseFlight(b[:n]); ok {
			t.Errorf("%d bytes are %+v", n, f)
		}
	}
}
