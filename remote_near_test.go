package weft

import (
	"context"
	"fmt"
	"testing"

	"weft/internal/explore"
)

// TestStartedInMemory: an atomic operation that is started on memory which this process maps is done at once, as the
// call that waits for it is, and goes neither to the engine nor to the owner.
func TestStartedInMemory(t *testing.T) {
	real(t, 2, func(ctx context.Context, p *Proc) error {
		r, err := p.OpenRegion(ctx, "r", 64, nil)
		if err != nil {
			return err
		}
		to, err := r.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		if err := p.Barrier("b", nil).Wait(ctx); err != nil {
			return err
		}
		switch {
		case to.Bytes() != nil:
		case explore.Round() > 0: // over packets
			return nil
		default:
			return fmt.Errorf("the memory of rank %d is not mapped", 1-p.Rank())
		}
		for i := range uint64(1000) {
			add, err := to.StartFetchAdd(0, 1)
			if err != nil {
				return err
			}
			if !add.Done() || add.Value() != i {
				return fmt.Errorf("addition %d: done %v, value %d", i, add.Done(), add.Value())
			}
			add.Free()
		}
		if n := p.Stats().PacketsSent; n > 100 {
			return fmt.Errorf("%d packets", n)
		}
		return p.Barrier("b", nil).Wait(ctx)
	})
}
