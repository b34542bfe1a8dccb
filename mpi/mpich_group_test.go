package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// mpichGroups are the cases of groups and topologies that no other test has, and of errors of requests.
var mpichGroups = []mpichCase{
	{"gtranksperf", translated},
	{"cartzero, topodup", copiedTopology},
	{"errinstatta, errinstatts, errinstatwa, errinstatws", truncatedAmongOthers},
}

// translated translates the ranks of a large group into those of another one, and back.
func translated(_ context.Context, _ *Comm) error {
	const n = 20_000
	all := Group{n: n}
	reverse := make([]int, n)
	for i := range reverse {
		reverse[i] = n - 1 - i
	}
	g, err := all.Include(reverse...)
	if err != nil {
		return err
	}
	for i, place := range all.Translate(reverse, g) {
		if place != i {
			return fmt.Errorf("rank %d is at %d, not %d", reverse[i], place, i)
		}
	}
	return nil
}

// copiedTopology makes a grid without dimensions, and copies grids and graphs.
func copiedTopology(ctx context.Context, c *Comm) error {
	point, err := c.Cart(ctx, nil, nil)
	if err != nil {
		return err
	}
	if (point != nil) != (c.Rank() == 0) {
		return fmt.Errorf("a grid of one member: %v", point)
	}
	if point != nil {
		err := errors.Join(is("its size", point.Size(), 1), is("its origin", point.RankAt(), 0), point.Free(ctx))
		if err != nil {
			return err
		}
	}
	ring, err := c.Cart(ctx, []int{c.Size()}, []bool{true})
	if err != nil {
		return err
	}
	b, err := ring.StartDup()
	if err != nil {
		return err
	}
	later, err := b.Wait(ctx)
	if err != nil {
		return err
	}
	d, err := later.Dup(ctx)
	if err != nil {
		return err
	}
	from, to := ring.Shift(0, 1)
	alsoFrom, alsoTo := d.Shift(0, 1)
	return errors.Join(is("the one before", alsoFrom, from), is("the one behind", alsoTo, to),
		is("the dimensions", len(d.Coordinates(0)), 1), d.Free(ctx), later.Free(ctx), ring.Free(ctx))
}

// truncatedAmongOthers receives two messages, of which one is too long: that one has an error, and the other one has
// come, however both are waited for.
func truncatedAmongOthers(ctx context.Context, c *Comm) error {
	me := c.Rank()
	for how := range 4 {
		long := make([]int64, 2)
		short := make([]int64, 1)
		a, err := c.StartRecv(Of(short), me, 1)
		if err != nil {
			return err
		}
		b, err := c.StartRecv(Of(long), me, 2)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Send(ctx, Of(filled(7, 2)), me, 1), c.Send(ctx, Of(filled(8, 2)), me, 2)); err != nil {
			return err
		}
		var truncated *TruncateError
		switch how {
		case 0:
			err = WaitAll(ctx, a, b)
		case 1:
			for !TestAll(a, b) {
				runtime.Gosched()
			}
			err = WaitAll(ctx, a, b)
		case 2:
			for range 2 {
				_, _, e := WaitAny(ctx, a, b)
				err = errors.Join(err, e)
			}
		case 3:
			both := []*Request{a, b}
			for done := 0; done < 2 && err == nil; {
				var at []int
				at, err = WaitSome(ctx, a, b)
				for _, i := range at {
					_, e := both[i].Wait(ctx)
					err = errors.Join(err, e)
				}
				done += len(at)
			}
			err = errors.Join(err, WaitAll(ctx, a, b))
		}
		if !errors.As(err, &truncated) || truncated.Tag != 1 || !slices.Equal(long, filled(8, 2)) {
			return fmt.Errorf("way %d: %v, and %v", how, err, long)
		}
	}
	return nil
}
