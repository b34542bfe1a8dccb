package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"weft"
)

// TestMemberWithoutCommunicator: a communicator was made at two of three members, and at the third that has failed. The
// operations of the two end, they agree without the third, and go on without it.
func TestMemberWithoutCommunicator(t *testing.T) {
	const without = 2
	const collectively = -100
	for _, source := range []int{collectively, without, AnySource} {
		_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 3}, func(ctx context.Context, p *weft.Proc) error {
			world := World(p)
			d, err := world.Dup(ctx)
			if err != nil {
				return err
			}
			if p.Rank() == without {
				w := world.w
				w.mu.Lock()
				delete(w.comms, d.id)
				w.list = drop(w.list, d)
				w.last = nil
				w.mu.Unlock()
				world.stillborn(d.family.birth)
				return p.Sleep(ctx, time.Minute)
			}
			var revoked *RevokedError
			wait := func() error { return AllReduce(ctx, d, []int{1}, Sum) }
			if source != collectively {
				wait = func() error { _, err := d.Recv(ctx, Of([]int{1}), source, 0); return err }
			}
			if err := wait(); !errors.As(err, &revoked) || revoked.By != without {
				return fmt.Errorf("rank %d waits in an operation for a member that has not got the communicator: %v", p.Rank(), err)
			}
			all, err := d.Agree(ctx, 1)
			if err != nil || !slices.Equal(all.Dead, []int{without}) || p.Now() > 30*time.Second {
				return fmt.Errorf("at %v: agreed on %v, %v", p.Now(), all, err)
			}
			e, err := d.Shrink(ctx)
			if err != nil {
				return err
			}
			return errors.Join(AllReduce(ctx, e, []int{1}, Sum), e.Free(ctx))
		})
		if err != nil {
			t.Errorf("source %d: %v", source, err)
		}
	}
}
