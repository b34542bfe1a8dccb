package hwmodel

import (
	"fmt"
	"slices"
	"testing"
)

// A reading is a figure of a table and the inputs that it says it was computed from.
type reading struct {
	v     float64
	reads []*Input
}

// readings returns every part, result and point of a table, by what it is.
func readings(t Table) map[string]reading {
	all := map[string]reading{}
	for _, n := range t.Paths {
		for i, p := range n.Path {
			all[fmt.Sprintf("%s, part %d, %s", n.Name, i, p.Name)] = reading{micros(p.Min), p.Reads}
		}
	}
	for _, r := range t.Results {
		all[r.What] = reading{r.Model.V, r.Model.Reads()}
	}
	for _, c := range t.Charts {
		for _, l := range c.Lines {
			for _, p := range l.Points {
				all[fmt.Sprintf("%s, %s, %d bytes", c.Name, l.Name, p.Bytes)] = reading{p.Model.V, p.Model.Reads()}
			}
		}
	}
	return all
}

// TestFiguresFollowInputs: if an input were twice as large, no figure would change but those that say they read it. So
// none hides an assumption, such as a header that a part of a path moves besides.
func TestFiguresFollowInputs(t *testing.T) {
	for _, table := range []func() Table{LANai, DIMMnet} {
		before := table()
		was := readings(before)
		for _, in := range before.Inputs() {
			in.V *= 2
			now := readings(table())
			in.V /= 2
			for what, r := range now {
				if old := was[what]; old.v != r.v && !slices.Contains(old.reads, in) {
					t.Errorf("%s, %s: %v and %v, but it does not say that it reads %q", before.Name, what, old.v, r.v, in.Name)
				}
			}
		}
	}
}
