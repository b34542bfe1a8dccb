package waitgraph

import (
	"slices"
	"testing"
)

// TestWaitsOfLibraries: what a library waits for is shown in place of its receives, and other receives stay.
func TestWaitsOfLibraries(t *testing.T) {
	var w Waits
	w.List(7, func() []Wait { return []Wait{{For: "receive", Rank: 3, Call: "tag 77"}} })
	r := Report{Waits: []Wait{
		{For: "receive", Rank: AnyRank, Call: Receives(7), Seconds: 2},
		{For: "receive", Rank: 1, Call: Receives(8), Seconds: 1},
	}}
	w.Tell(&r)
	want := []Wait{
		{For: "receive", Rank: 1, Call: Receives(8), Seconds: 1}, {For: "receive", Rank: 3, Call: "tag 77", Seconds: 2},
	}
	if !slices.Equal(r.Waits, want) {
		t.Errorf("%+v", r.Waits)
	}
}
