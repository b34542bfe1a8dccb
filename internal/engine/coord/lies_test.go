package coord

import (
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
)

// Everything that is sent is counted, and everything that arrives; what comes from
// the dead is dropped.
func TestCounts(t *testing.T) {
	tb := newTable(t, 3, 1)
	locks := tb.open(Config{Class: CentralLock, Name: "L"})
	home := tb.nodes[0].homeOf(locks[0].ID)
	for rank, n := range tb.nodes {
		n.Start(0, &Op{Kind: Lock, Object: locks[rank]})
	}
	for tb.deliver() {
	}
	var sent, received uint64
	for _, n := range tb.nodes {
		sent += n.Stats.Sent
		received += n.Stats.Received
	}
	if sent != 4 || received != 4 { // three requests and a grant
		t.Errorf("%d are counted as sent, %d as received", sent, received)
	}
	dead := (home + 1) % 3
	n := tb.nodes[home]
	n.Down(dead, &failure.PeerError{Rank: dead})
	before := len(n.homes)
	guards := func() int { return len(n.fenceOf(locks[0].ID).guards) }
	if err := n.Recv(0, dead, wire.Event{Kind: wire.EventBind, ID: locks[0].ID}.Append(nil)); err != nil ||
		n.Stats.Dropped != 1 || guards() > 0 || len(n.homes) != before {
		t.Errorf("of the dead: %v, %d dropped", err, n.Stats.Dropped)
	}
}

// A token at a gate that is not used is refused, and opens nothing.
func TestUnusedGates(t *testing.T) {
	unused := 0
	for size := 2; size <= 16; size++ {
		tb := newTable(t, size, 1)
		for me, n := range tb.nodes {
			o, err := n.Open(0, Config{Class: Barrier, Name: "B", Algorithm: ModifiedShuffle})
			if err != nil {
				continue
			}
			b := o.participant.(*barrier)
			for gate, g := range b.plan.Gates {
				if g.Inputs > 0 {
					continue
				}
				unused++
				f := wire.Event{Kind: wire.EventToken, Slot: uint8(gate), ID: o.ID, Phase: 1, Arg: uint64(o.sig)}
				if err := n.Recv(0, (me+1)%size, f.Append(nil)); !errors.Is(err, wire.ErrField) {
					t.Errorf("member %d of %d, gate %d, which is not used: %v", me, size, gate, err)
				}
			}
		}
	}
	if unused == 0 {
		t.Error("all gates are used")
	}
}
