package fabric

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/internal/waittest"
)

// exchangeCounted exchanges messages, and writes, reads and adds to the other rank's memory. It returns an error if one
// of these allocates, at either end.
func exchangeCounted(ctx context.Context, p *weft.Proc) error {
	other := 1 - p.Rank()
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if _, err := p.OpenRegion(ctx, "memory", 1<<20, nil); err != nil {
		return err
	}
	far, err := p.AttachRegion(ctx, other, "memory")
	if err != nil {
		return err
	}
	in := make([]byte, 1<<17)
	message := func(size int) func() error { // there and back: a long one is sent only when it is received
		b := make([]byte, size)
		send := func() error { return q.Send(ctx, other, b) }
		receive := func() error { _, err := q.RecvIntoFrom(ctx, other, in); return err }
		first := send
		second := receive
		if p.Rank() == 1 {
			first = receive
			second = send
		}
		return func() error {
			if err := first(); err != nil {
				return err
			}
			return second()
		}
	}
	barrier := p.Barrier("round", nil)
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"a message of 8 B", message(8)},
		{"a message of 4000 B", message(4000)},
		{"a message of many packets", message(100_000)},
		{"a short push", func() error { return far.Push(ctx, 64, in[:64]) }},
		{"a long push", func() error { return far.Push(ctx, 64, in) }},
		{"a pull", func() error { return far.Pull(ctx, in, 64) }},
		{"an addition", func() error { _, err := far.FetchAdd(ctx, 0, 1); return err }},
		{"a barrier", func() error { return barrier.Wait(ctx) }},
	} {
		const warm = 20 // what links and buffers grow to
		var failed error
		f := func() {
			if err := c.f(); err != nil && failed == nil {
				failed = err
			}
		}
		for range warm {
			f()
		}
		n := testing.AllocsPerRun(50, f)
		for range 4 { // goroutines of the runtime and of the transport allocate now and then: the least counts
			n = min(n, testing.AllocsPerRun(50, f))
		}
		if failed == nil {
			failed = barrier.Wait(ctx)
		}
		if failed != nil {
			return fmt.Errorf("%s: %w", c.name, failed)
		}
		fmt.Printf("%s: %v allocations\n", c.name, n)
		if n != 0 {
			return fmt.Errorf("%s: %v allocations", c.name, n)
		}
	}
	return nil
}

// No data path allocates, from a message of one rank to the one that receives it.
func TestNoAllocation(t *testing.T) {
	need(t)
	for _, provider := range slices.Compact([]string{providers[0], one}) {
		t.Run(provider, func(t *testing.T) {
			j := startRanks(t, 2, provider, "counted")
			ctx, cancel := context.WithDeadline(t.Context(), waittest.End())
			defer cancel()
			if err := j.Wait(ctx); err != nil {
				t.Errorf("%v\n%s%s", err, j.Output(0), j.Output(1))
			}
		})
	}
}
