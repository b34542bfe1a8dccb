package launch

import (
	"reflect"
	"strings"
	"testing"
)

// Ranks that fit get parts: each gets processors that no other has, all together get all, and no rank gets two more
// than another. Ranks that do not fit, and a single one, are bound to none.
func TestDivide(t *testing.T) {
	pairs := [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}
	singles := [][]int{{0}, {1}, {2}, {3}}
	for _, c := range []struct {
		name  string
		b     Binding
		cores [][]int
		most  float64
		n     int
		want  [][]int
	}{
		{"one rank", ToParts, singles, 4, 1, nil},
		{"two of four", ToParts, singles, 4, 2, [][]int{{0, 1}, {2, 3}}},
		{"three of four", ToParts, singles, 4, 3, [][]int{{0}, {1}, {2, 3}}},
		{"four of four", ToParts, singles, 4, 4, singles},
		{"five of four", ToParts, singles, 4, 5, nil},
		{"a quota of two", ToParts, singles, 2, 3, nil},
		{"a quota that is kept", ToParts, singles, 2, 2, [][]int{{0, 1}, {2, 3}}},
		{"cores with two threads", ToParts, pairs, 8, 2, [][]int{{0, 4, 1, 5}, {2, 6, 3, 7}}},
		{"more ranks than cores", ToParts, pairs, 8, 5, [][]int{{0}, {4, 1}, {5}, {2, 6}, {3, 7}}},
		{"unknown", ToParts, nil, 1, 2, nil},
		{"cores", ToCores, pairs, 1, 2, pairs[:2]},
		{"too few cores", ToCores, pairs, 8, 5, nil},
	} {
		if got := c.b.divide(processors{"m", c.cores, c.most}, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Ranks of hosts that are one machine divide its processors, whatever the hosts are called, and others have theirs.
func TestBind(t *testing.T) {
	four := [][]int{{0}, {1}, {2}, {3}}
	places := []place{
		{processors: processors{"m", four, 4}}, {processors: processors{"k", four, 4}},
		{processors: processors{"m", four, 4}},
	}
	if err := ToParts.bind(places, ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{0, 1}, nil, {2, 3}} {
		if got := places[i].cpus; !reflect.DeepEqual(got, want) {
			t.Errorf("place %d: %v, want %v", i, got, want)
		}
	}
	single := []place{{processors: processors{"s", four[:2], 2}}, {processors: processors{"s", four[:2], 2}}}
	for _, procs := range []string{"7", ""} {
		if err := ToParts.bind(single, procs); err != nil || (len(single[1].env) == 0) != (procs == "7") {
			t.Errorf("GOMAXPROCS=%s: %v, %v", procs, single[1].env, err)
		}
	}
	places[0].name = "h"
	places[0].processors.cores = four[:1]
	if err := ToCores.bind(places, ""); err == nil || !strings.Contains(err.Error(), "host h: -bind-to core: 2 ranks") {
		t.Errorf("%v", err)
	}
	if _, err := ParseBinding("socket"); err == nil || !strings.Contains(err.Error(), "part, core or none") {
		t.Errorf("%v", err)
	}
}
