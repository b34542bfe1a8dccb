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
	const sending = -101
	for _, source := range []int{collectively, sending, without, AnySource} {
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
			switch source {
			case collectively:
			case sending:
				wait = func() error { return d.Send(ctx, Of(make([]byte, 1<<20)), without, 0) }
			default:
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

// TestDeadBeforeCommunicator: a member has died before a communicator was made here, for which it had still been heard.
// A receive from any source is told of the death.
func TestDeadBeforeCommunicator(t *testing.T) {
	cluster := weft.Cluster{Ranks: 3, Faults: []weft.Fault{{Kind: weft.Crash, Ranks: []int{2}, At: time.Second}}}
	_, err := weft.Simulate(t.Context(), cluster, func(ctx context.Context, p *weft.Proc) error {
		world := World(p)
		if err := world.Barrier(ctx); err != nil {
			return err
		}
		var gone *weft.PeerError
		if _, err := world.Recv(ctx, Of([]int{1}), 2, 0); !errors.As(err, &gone) {
			return err
		}
		d := world.w.make(newID(0, 77), world.group)
		soon, end := context.WithTimeout(ctx, time.Minute)
		defer end()
		if _, err := d.Recv(soon, Of([]int{1}), AnySource, 0); !errors.As(err, &gone) || gone.Rank != 2 {
			return fmt.Errorf("a receive from any source is not told that rank 2 has died: %v", err)
		}
		if _, err := d.Recv(soon, Of([]int{1}), AnySource, 0); errors.As(err, &gone) && gone.Rank == 2 {
			return fmt.Errorf("a second receive is told, too: %v", err)
		}
		return nil
	})
	if err != nil && !errors.Is(err, weft.ErrPeer) {
		t.Error(err)
	}
}
