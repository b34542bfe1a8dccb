package weft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestUpdates: all ranks update the words of rank 0 by each way, and nothing is lost.
func TestUpdates(t *testing.T) {
	const each = 50
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 1024, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 0)
		if err != nil {
			return err
		}
		halves := make([]byte, 800) // a hundred times 0.5
		for i := 0; i < len(halves); i += 8 {
			binary.NativeEndian.PutUint64(halves[i:], math.Float64bits(0.5))
		}
		bit := binary.NativeEndian.AppendUint64(nil, 1<<p.Rank())
		seen := map[uint64]bool{}
		for range each {
			op, err := r.StartUpdate(0, UpdateAddFloat, halves)
			if err != nil {
				return err
			}
			if err := errors.Join(op.Wait(ctx), r.Update(800, UpdateXor, bit)); err != nil {
				return err
			}
			old, err := r.FetchUpdate(ctx, 808, UpdateAdd, 1)
			if err != nil || seen[old] {
				return fmt.Errorf("FetchUpdate has seen %d again, or %w", old, err)
			}
			seen[old] = true
		}
		flush, err := r.StartFlush()
		if err != nil {
			return err
		}
		if err := errors.Join(r.Update(816, UpdateOr, bit), flush.Wait(ctx), r.Flush(ctx), meet(ctx, p, q)); err != nil {
			return err
		}
		if p.Rank() == 0 {
			first := math.Float64frombits(w.Load(0))
			last := math.Float64frombits(w.Load(792))
			want := 0.5 * each * float64(p.Size())
			if first != want || last != want || w.Load(800) != 0 || w.Load(808) != uint64(each*p.Size()) || w.Load(816) != 7 {
				return fmt.Errorf("%v, %v (want %v), %x, %d, %x", first, last, want, w.Load(800), w.Load(808), w.Load(816))
			}
		}
		var wrong *ConfigError
		_, err = r.FetchUpdate(ctx, 0, 15, 1)
		_, alone := r.StartUpdate(4, UpdateAdd, bit)
		switch {
		case !errors.Is(r.Update(4, UpdateAdd, bit), ErrMisaligned), !errors.Is(alone, ErrMisaligned):
			return errors.New("words that are misaligned are updated")
		case !errors.Is(r.Update(1020, UpdateReplace, bit), ErrBounds):
			return errors.New("words beyond the end are updated")
		case !errors.As(r.Update(0, 2, bit), &wrong) || !errors.As(err, &wrong):
			return fmt.Errorf("an update that there is not: %v", err)
		}
		return nil
	})
}
