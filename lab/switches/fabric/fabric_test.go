package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func read(t testing.TB, name string) *Network {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := Parse(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func write(t testing.TB, n *Network) string {
	t.Helper()
	var b bytes.Buffer
	if wrote, err := n.WriteTo(&b); err != nil || wrote != int64(b.Len()) {
		t.Fatalf("%d bytes of %d, %v", wrote, b.Len(), err)
	}
	return b.String()
}

// TestPaperCluster: the cluster of [Konishi97] has 4 switches and 16 hosts, and every switch is linked with every
// other.
func TestPaperCluster(t *testing.T) {
	n := read(t, "testdata/paper003.links")
	if len(n.Switches) != 4 || len(n.Hosts) != 16 || len(n.Links) != 16+6 {
		t.Fatalf("%d switches, %d hosts, %d links", len(n.Switches), len(n.Hosts), len(n.Links))
	}
	for s := range n.Switches {
		others := map[int]bool{}
		for port, link := range n.Switches[s].Ports {
			if link == NoLink {
				continue
			}
			if to := n.Across(link, At(s, port)); !to.IsHost() {
				others[to.Switch] = true
			}
		}
		if len(others) != 3 || others[s] {
			t.Errorf("switch %s is linked with %v", n.Switches[s].Name, others)
		}
	}
	again, err := Parse("again", strings.NewReader(write(t, n)))
	if err != nil || write(t, again) != write(t, n) {
		t.Errorf("%v: what was written reads as another network", err)
	}
}

// TestFileErrors: an error in a file names the file and the line.
func TestFileErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "net:0: the file ends without a host"},
		{"switch a 8\n\nhost x a:8", `net:3: switch a has no port "8": it has 8, from 0 on`},
		{"switch a 8\nhost x b:0", `net:2: there is no switch "b" so far`},
		{"switch a 8\nhost x a", `net:2: "a" names no port: write SWITCH:PORT`},
		{"switch a 8\nhost x a:-1", "has no port"},
		{"switch a 8\nhost x a:0\nhost y a:0", "net:3: a:0 has a link already"},
		{"switch a 8\nhost x a:0\nlink a:1 a:0", "net:3: a:0 has a link already"},
		{"switch a 8\nlink a:1 a:1", "net:2: a:1 cannot be linked with itself"},
		{"switch a 8\nhost a a:0", "net:2: there are two of the name a"},
		{"switch a 17", "net:1: a switch has 1 to 16 ports, not 17"},
		{"switch a many", `net:1: "many" is no number of ports`},
		{"switch a:1 8", `net:1: "a:1" is no name`},
		{"cable a b", `net:1: "cable" is not known: a line is switch NAME PORTS`},
		{"switch a", "net:1: 2 words, and not 3"},
		{"# " + strings.Repeat("x", maxLine), "net:1: a line has at most 4096 bytes"},
	} {
		_, err := Parse("net", strings.NewReader(c.text))
		var at *FileError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestGenerated: a generated network has the hosts that were asked for, is connected, and survives writing and
// reading.
func TestGenerated(t *testing.T) {
	for _, kind := range []string{"switch-tree", "switch-fattree", "switch-ring", "switch-random"} {
		for _, ports := range []int{4, 5, 8, 16} {
			for _, hosts := range []int{1, 2, 9, 17, 100, 700} {
				if kind == "switch-fattree" && ports < 8 && hosts == 700 {
					continue // more switches than are allowed
				}
				n, err := Generate(kind, ports, hosts, 7)
				if err != nil {
					t.Fatalf("%s:%d for %d: %v", kind, ports, hosts, err)
				}
				if len(n.Hosts) != hosts || reached(n) != len(n.Switches) {
					t.Errorf("%s:%d for %d hosts: %d, and %d of %d switches are reached", kind, ports, hosts, len(n.Hosts),
						reached(n), len(n.Switches))
				}
				again, err := Parse("again", strings.NewReader(write(t, n)))
				if err != nil || write(t, again) != write(t, n) {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	}
	a, _ := Generate("switch-random", 8, 100, 1)
	b, _ := Generate("switch-random", 8, 100, 1)
	c, _ := Generate("switch-random", 8, 100, 2)
	if write(t, a) != write(t, b) || write(t, a) == write(t, c) {
		t.Error("a random network does not follow from its seed")
	}
	for _, c := range []struct {
		kind         string
		ports, hosts int
	}{{"switch-star", 8, 4}, {"switch-tree", 3, 4}, {"switch-tree", 17, 4}, {"switch-ring", 8, 0}, {"switch-ring", 8,
		MaxHosts + 1}, {"switch-fattree", 4, 4096}} {
		if _, err := Generate(c.kind, c.ports, c.hosts, 1); !errors.Is(err, ErrNetwork) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// reached counts the switches that can be reached from the first host.
func reached(n *Network) int {
	start, _ := n.Home(0)
	seen := []int{start.Switch}
	for i := 0; i < len(seen); i++ {
		for port, link := range n.Switches[seen[i]].Ports {
			if link == NoLink {
				continue
			}
			if to := n.Across(link, At(seen[i], port)); !to.IsHost() && !slices.Contains(seen, to.Switch) {
				seen = append(seen, to.Switch)
			}
		}
	}
	return len(seen)
}

// TestFatTree: a switch in the middle has as many links up as down.
func TestFatTree(t *testing.T) {
	n, err := Generate("switch-fattree", 4, 8, 0)
	if err != nil || len(n.Switches) != 12 || len(n.Links) != 8+16 {
		t.Fatalf("%v: %d switches, %d links", err, len(n.Switches), len(n.Links))
	}
	for s := range 8 {
		if slices.Contains(n.Switches[s].Ports, NoLink) {
			t.Errorf("switch %d has a port that is free", s)
		}
	}
}

// TestClone: a copy shares nothing with the original.
func TestClone(t *testing.T) {
	n := read(t, "testdata/paper003.links")
	was := write(t, n)
	c := n.Clone()
	link, err := c.FindLink("a:5")
	if err != nil {
		t.Fatal(err)
	}
	c.Links[link].Down = true
	c.Switches[0].Ports[0] = NoLink
	if _, err := c.AddHost("new"); err != nil {
		t.Fatal(err)
	}
	if write(t, n) != was || strings.Contains(write(t, c), "link a:5 b:4") {
		t.Error("the copy shares something with its original, or a link that is down is written")
	}
	for _, name := range []string{"x", "a:9", "a:4", "z:1"} {
		if _, err := n.FindLink(name); !errors.Is(err, ErrNetwork) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if link, err := n.FindLink("n3"); err != nil || n.LinkName(link) != "n3 – a:3" {
		t.Errorf("link %d, %v", link, err)
	}
}

// FuzzParse: a file of links is read, or refused with the line; a network that was read is the same after writing
// and reading it again.
func FuzzParse(f *testing.F) {
	b, err := os.ReadFile("testdata/paper003.links")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("switch a 2\nlink a:0 a:1\n")
	f.Add("switch a 2\nhost b a:0 # c\n\nhost c a:1")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse("net", strings.NewReader(text))
		if err != nil {
			var at *FileError
			if !errors.As(err, &at) || at.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		for id, l := range n.Links {
			if n.LinkAt(l.A) != id || n.LinkAt(l.B) != id || n.Across(id, l.A) != l.B || n.Across(id, l.B) != l.A {
				t.Fatalf("link %d, %+v", id, l)
			}
		}
		again, err := Parse("again", strings.NewReader(write(t, n)))
		if err != nil || write(t, again) != write(t, n) {
			t.Fatalf("%v: %q reads as %q", err, write(t, n), fmt.Sprint(again))
		}
	})
}
