package transport

import "testing"

// A peer is found by rank, both by Get and by Sending, and what was not added is not there.
func TestPeerTable(t *testing.T) {
	type peer struct{ rank int }
	var table PeerTable[peer]
	if table.Get(0) != nil || table.Sending(0) != nil {
		t.Error("an empty table has a peer 0")
	}
	for _, rank := range []int{0, 7, 3, 4000, 17} {
		table.Add(rank, &peer{rank})
	}
	for _, rank := range []int{7, 7, 0, 3, 7, 17, 0, 4000, 0} {
		if p := table.Sending(rank); p == nil || p.rank != rank || table.Get(rank) != p {
			t.Errorf("rank %d: %v", rank, p)
		}
	}
	for _, rank := range []int{5, 5, 18, 64, 3999, 4001, 4016, 1 << 31, -1} {
		if table.Sending(rank) != nil || table.Get(rank) != nil {
			t.Errorf("there is a peer %d", rank)
		}
	}
	if n := testing.AllocsPerRun(100, func() { table.Sending(0); table.Sending(7) }); n != 0 {
		t.Errorf("%v allocations to find two peers", n)
	}
}
