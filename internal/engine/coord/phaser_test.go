package coord

import (
	"errors"
	"testing"

	"weft/internal/engine/link"
)

// TestBrokenPhases: a phase at which a rank has arrived, and that a death has
// broken, is an error when it is waited for, however many have been broken since.
func TestBrokenPhases(t *testing.T) {
	tb := newTable(t, 5, 1)
	all := tb.open(Config{Class: Phaser, Name: "b"})
	home := tb.nodes[0].homeOf(all[0].ID)
	me := (home + 1) % 5
	for rank, o := range all {
		tb.nodes[rank].Start(0, &Op{Kind: Join, Object: o})
	}
	for tb.deliver() {
	}
	tb.nodes[me].Start(0, &Op{Kind: Arrive, Object: all[me]})
	for k := 2; k < 5; k++ { // three die, and with each a phase
		tb.nodes[home].Down((home+k)%5, &link.PeerError{Rank: (home + k) % 5})
		for tb.deliver() {
		}
	}
	op := &Op{Kind: Await, Object: all[me]}
	if tb.nodes[me].Start(0, op); !op.Done || !errors.Is(op.Err, ErrBroken) {
		t.Errorf("%+v", op)
	}
}
