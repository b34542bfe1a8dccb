//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"weft"
	"weft/pm"
)

// TestNoAllocation: no data path allocates, whatever the transport.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	everywhere(t, 2, "noalloc")
}

// noalloc counts what both nodes allocate while they send, sleep, write and read.
func noalloc(ctx context.Context, p *weft.Proc) error {
	const rounds = 250
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	there, here, err := partner(ctx, x, 20_000)
	if err != nil {
		return err
	}
	peer := 1 - x.Self()
	b := make([]byte, 1000)
	take := func(int, []byte) error { return nil }
	nothing := func() error { return nil }
	write := func() error { return x.Write(ctx, there, here, 20_000) }
	read := func() error { return x.Read(ctx, there, here, 100) }
	round := func() error {
		if x.Self() == 0 {
			err = errors.Join(send(x, peer, b, nothing), receive(ctx, x, take))
		} else {
			err = errors.Join(receive(ctx, x, take), send(x, peer, b, nothing))
		}
		return errors.Join(err, again(ctx, write), again(ctx, x.WriteDone), again(ctx, read), again(ctx, x.ReadDone),
			again(ctx, x.SendDone))
	}
	least := uint64(rounds)
	for range 4 { // the first grows what grows; others in this process may allocate meanwhile
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			if err := round(); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least > rounds/4 && !simulated(p) {
		return fmt.Errorf("%d allocations in %d rounds", least, rounds)
	}
	return finish(ctx, p, x)
}

// partner locks n bytes for the other one of two nodes, and exchanges the handles.
func partner(ctx context.Context, x *pm.Context, n int) (there, here pm.Handle, err error) {
	peer := 1 - x.Self()
	_, here, err = x.MLock(ctx, peer, n)
	if err != nil {
		return there, here, err
	}
	b, err := here.MarshalBinary()
	if err == nil {
		err = send(x, peer, b, func() error { return nil })
	}
	if err == nil {
		err = receive(ctx, x, func(_ int, b []byte) error { return there.UnmarshalBinary(b) })
	}
	return there, here, err
}
