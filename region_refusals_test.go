package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestRegionErrors(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 100, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		var bounds *BoundsError
		for _, off := range []int{97, 100, 1 << 40, -1, -1 << 62} {
			for name, err := range map[string]error{
				"push": r.Push(ctx, off, []byte("four")),
				"pull": r.Pull(ctx, make([]byte, 4), off),
				"put":  r.Put(off, []byte("four")),
			} {
				if !errors.As(err, &bounds) || bounds.Off != off || bounds.Len != 4 || bounds.Size != 100 ||
					!errors.Is(err, ErrBounds) {
					return fmt.Errorf("%s at %d: %v", name, off, err)
				}
			}
			if _, err := r.FetchAdd(ctx, off&^7, 1); off != 97 && !errors.Is(err, ErrBounds) {
				return fmt.Errorf("add at %d: %v", off, err)
			}
		}
		var odd *MisalignedError
		if _, err := r.Swap(ctx, 12, 1); !errors.As(err, &odd) || odd.Off != 12 || !errors.Is(err, ErrMisaligned) {
			return fmt.Errorf("swap at 12: %v", err)
		}
		if _, err := r.FetchAdd(ctx, 96, 1); !errors.Is(err, ErrBounds) { // 4 bytes are left
			return fmt.Errorf("add at 96: %v", err)
		}
		var long *TooLongError
		if err := r.Put(0, make([]byte, MaxPut+1)); !errors.As(err, &long) || long.Limit != MaxPut {
			return fmt.Errorf("put of %d: %v", MaxPut+1, err)
		}
		if _, err := p.AttachRegion(ctx, 2, "window"); !errors.Is(err, ErrRank) {
			return fmt.Errorf("rank 2: %v", err)
		}
		if _, err := p.OpenRegion(ctx, "window", 8, nil); !errors.Is(err, ErrInUse) {
			return fmt.Errorf("same name: %v", err)
		}
		var bad *ConfigError
		if _, err := p.OpenRegion(ctx, "", 8, nil); !errors.As(err, &bad) {
			return fmt.Errorf("no name: %v", err)
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		if !bytes.Equal(w.Bytes(), make([]byte, 100)) {
			return fmt.Errorf("something was written: %v", w.Bytes())
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		if err := r.Push(ctx, 0, []byte("late")); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("closed: %v", err)
		}
		return nil
	})
}

func TestReadOnlyRegion(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		_, w, err := pair(ctx, p, 64, &RegionConfig{ReadOnly: true})
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		var refused *RegionError
		if err := r.Push(ctx, 0, []byte("x")); !errors.As(err, &refused) || refused.Rank != 1-p.Rank() ||
			!errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("push: %v", err)
		}
		if _, err := r.FetchAdd(ctx, 0, 1); !errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("add: %v", err)
		}
		return r.Pull(ctx, make([]byte, 64), 0)
	})
}

// A region for some ranks is refused to others, on every transport, and they map nothing.
func TestRegionForSome(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 64, &RegionConfig{Ranks: []int{(p.Rank() + 1) % 3}})
		if err != nil {
			return err
		}
		defer q.Close()
		if _, err := w.At(ctx, p.Rank()); err != nil {
			return fmt.Errorf("its own: %w", err)
		}
		r, err := w.At(ctx, (p.Rank()+2)%3)
		if err != nil {
			return err
		}
		if err := r.Push(ctx, 0, []byte("x")); err != nil {
			return err
		}
		var refused *RegionError
		if _, err := w.At(ctx, (p.Rank()+1)%3); !errors.As(err, &refused) || !errors.Is(err, ErrForbidden) ||
			refused.Rank != (p.Rank()+1)%3 {
			return fmt.Errorf("not permitted: %v", err)
		}
		if _, err := p.OpenRegion(ctx, "nobody's", 8, &RegionConfig{Ranks: []int{3}}); !errors.Is(err, ErrRank) {
			return fmt.Errorf("for a rank that is not there: %v", err)
		}
		return p.Barrier("tried", nil).Wait(ctx)
	})
}

// The target checks key and bounds itself: an initiator that lies gets nowhere.
func TestTargetChecks(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 64, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		r.direct = nil // by packets
		forged := *r
		forged.found.Key++
		var refused *RegionError
		if err := forged.Push(ctx, 0, []byte("x")); !errors.As(err, &refused) || !errors.Is(err, ErrKey) {
			return fmt.Errorf("key: %v", err)
		}
		if _, err := forged.Swap(ctx, 0, 1); !errors.Is(err, ErrKey) {
			return fmt.Errorf("key: %v", err)
		}
		if err := forged.Pull(ctx, make([]byte, 8), 0); !errors.Is(err, ErrKey) {
			return fmt.Errorf("key: %v", err)
		}
		if err := forged.Put(0, []byte("x")); err != nil {
			return err
		}
		if err := forged.Flush(ctx); !errors.Is(err, ErrKey) {
			return fmt.Errorf("put with a wrong key: %v", err)
		}
		grown := *r
		grown.found.Size = 1 << 20
		if err := grown.Push(ctx, 60, make([]byte, 5000)); !errors.Is(err, ErrBounds) {
			return fmt.Errorf("bounds: %v", err)
		}
		if err := grown.Pull(ctx, make([]byte, 8), 60); !errors.Is(err, ErrBounds) {
			return fmt.Errorf("bounds: %v", err)
		}
		if _, err := grown.FetchAdd(ctx, 64, 1); !errors.Is(err, ErrBounds) {
			return fmt.Errorf("bounds: %v", err)
		}
		other := *r
		other.found.Region = 77
		if err := other.Push(ctx, 0, []byte("x")); !errors.Is(err, ErrNoRegion) {
			return fmt.Errorf("region 77: %v", err)
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		if !bytes.Equal(w.Bytes(), make([]byte, 64)) {
			return fmt.Errorf("something was written: %v", w.Bytes())
		}
		return nil
	})
}
