package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/extend"
	"weft/internal/waittest"
)

// TestMappedElements: elements in memory of Alloc are combined and copied where they are, also a part of such memory.
func TestMappedElements(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	const n = 20000
	for _, size := range []int{2, 3} {
		err := weft.Local(ctx, size, far(func(ctx context.Context, p *weft.Proc) error {
			c := World(p)
			memory, err := Alloc[int64](p, n+5)
			if err != nil {
				return err
			}
			s := memory[5:]
			all, err := Alloc[int64](p, n*size)
			if err != nil {
				return err
			}
			want := make([]int64, n)
			for i := range want {
				for m := range size {
					want[i] = 2*want[i] + value(m, i)
				}
			}
			inOrder := Each(func(a, b int64) int64 { return 2*a + b }) // not commutative
			for range 3 {
				copy(s, filled(c.Rank(), n))
				if err := AllReduce(ctx, c, s, inOrder); err != nil {
					return err
				}
				if !slices.Equal(s, want) {
					return errors.New("AllReduce: it is another sum")
				}
				copy(s, filled(c.Rank(), n))
				if err := c.AllGather(ctx, Of(s), Of(all)); err != nil {
					return err
				}
				for m := range size {
					if !slices.Equal(all[m*n:][:n], filled(m, n)) {
						return fmt.Errorf("AllGather: member %d has other elements", m)
					}
				}
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			if err := errors.Join(Free(p, memory), Free(p, all)); err != nil {
				return err
			}
			if Free(p, memory) == nil {
				return errors.New("memory is given back twice")
			}
			return c.Barrier(ctx)
		}))
		if err != nil {
			t.Errorf("%d members: %v", size, err)
		}
	}
}

// TestPlaces: a rank maps what lies in memory of Alloc of another rank, and copies what lies anywhere.
func TestPlaces(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	err := weft.Local(ctx, 2, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		memory, err := p.Alloc(100)
		if err != nil {
			return err
		}
		other := 1 - c.Rank()
		memory[10] = byte(c.Rank() + 1)
		ordinary := slices.Clone(memory)
		at := []extend.Place{extend.PlaceOf(p, memory[5:], other), extend.PlaceOf(p, ordinary[5:], other)}
		theirs := make([]extend.Place, 2)
		if _, err := c.SendRecv(ctx, Of(at), other, 0, Of(theirs), other, 0); err != nil {
			return err
		}
		for i, place := range theirs {
			b := make([]byte, 1)
			if err := extend.ReadPlace(p, place, other, 5, b); err != nil || b[0] != byte(other+1) {
				return fmt.Errorf("place %d: it has %d, %w", i, b[0], err)
			}
			mapped := extend.MapPlace(p, place, other, 5, 90)
			if shared := i == 0; shared != (mapped != nil) || shared && mapped[0] != byte(other+1) {
				return fmt.Errorf("place %d is mapped: %v", i, mapped)
			}
			if extend.MapPlace(p, place, other, 5, 1<<30) != nil {
				return fmt.Errorf("place %d: what lies behind it is mapped", i)
			}
		}
		return c.Barrier(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
