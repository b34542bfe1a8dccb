package driver

import (
	"errors"
	"testing"

	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// TestLatchOfTheDead: a node that waits for the latch of a region, to carry out an update for a peer, takes it from a
// rank that dies with it. The node hears of the death although it looks at no packet meanwhile.
func TestLatchOfTheDead(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[0]
	const holder = 2 // another rank of the host
	b := mem.Aligned(16)
	region, err := n.Expose("words", b, 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Latch(region, 8)
	asked := make(chan bool, 1)
	dead := region.Dead
	region.Dead = func(rank uint64) bool {
		select {
		case asked <- true:
		default:
		}
		return dead(rank)
	}
	mem.Store64(b, 8, holder+1)
	done := make(chan error, 1)
	go func() {
		c := NewCall()
		defer c.Free()
		c.RMA.Kind = rma.Atomic
		c.RMA.Code = wire.CodeAdd
		c.RMA.A = 5
		c.RMA.Region = region.ID
		c.RMA.Key = region.Key
		done <- r.nodes[1].Memory(t.Context(), c)
	}()
	<-asked
	n.Down(holder, errors.New("it was killed"), false)
	if err := <-done; err != nil || mem.Load64(b, 0) != 5 || mem.Load64(b, 8) != 0 {
		t.Errorf("%v: the word is %d, the latch %d", err, mem.Load64(b, 0), mem.Load64(b, 8))
	}
}
