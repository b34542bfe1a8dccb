package launch

import (
	"slices"
	"strings"
	"testing"

	"weft/internal/hostlist"
)

// Ranks fill the slots of the hosts in their order; without slots they are spread evenly, in blocks.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		hosts      string
		n, perHost int
		want       []int
		err        string
	}{
		{"a,b,c", 0, 0, []int{1, 1, 1}, ""},
		{"a,b,c", 2, 0, []int{1, 1, 0}, ""},
		{"a,b,c", 3, 0, []int{1, 1, 1}, ""},
		{"a,b,c", 7, 0, []int{3, 2, 2}, ""},
		{"a,b,c", 8, 0, []int{3, 3, 2}, ""},
		{"a,b,c", 9, 0, []int{3, 3, 3}, ""},
		{"a:2,b:4,c", 0, 0, []int{2, 4, 1}, ""},
		{"a:2,b:4,c", 3, 0, []int{2, 1, 0}, ""},
		{"a:2,b:4,c", 8, 0, nil, "8 ranks are more than the 7 slots of the hosts: a:2, b:4, c:1"},
		{"a:8,b", 0, 2, []int{2, 2}, ""},
		{"a:8,b", 3, 2, []int{2, 1}, ""},
		{"a,b", 5, 2, nil, "5 ranks are more than the 4 slots"},
		{"n[1-10]", 11, 1, nil, "n8:1, and 2 more hosts"},
	} {
		hosts, err := hostlist.Parse(c.hosts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Spread(hosts, c.n, c.perHost)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d ranks on %s, %d on each: %v, %v", c.n, c.hosts, c.perHost, got, err)
		}
	}
}
