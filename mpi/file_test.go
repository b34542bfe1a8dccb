package mpi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"weft"
)

// TestFile: members write the columns of a matrix together, and read them back by each way; what is in the file is the
// matrix.
func TestFile(t *testing.T) {
	for _, n := range []int{1, 3, 4} {
		name := filepath.Join(t.TempDir(), "matrix")
		member := func(ctx context.Context, p *weft.Proc) error { return columns(ctx, World(p), name) }
		if err := weft.Local(t.Context(), n, member); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
		if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: n, Loss: 0.01}, member); err != nil {
			t.Errorf("%d ranks, simulated: %v", n, err)
		}
	}
}

func columns(ctx context.Context, c *Comm, name string) error {
	const rows = 2500
	const width = 3 // columns of a member
	f, err := OpenFile(ctx, c, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	all := width * c.Size()
	mine := Vector(c.Rank()*width, 1, width, 0) // of a row
	x := make([]int64, rows*width)
	for i := range x {
		x[i] = int64(i/width*all + c.Rank()*width + i%width)
	}
	if err := errors.Join(f.SetView(ctx, 16, mine, all), f.WriteAtAll(ctx, Of(x), 0)); err != nil {
		return err
	}
	y := make([]int64, len(x)+5)
	n, err := f.ReadAtAll(ctx, Of(y), 7)
	if err != io.EOF || n != len(x)-7 || y[0] != x[7] || y[n-1] != x[len(x)-1] || y[n] != 0 {
		return fmt.Errorf("ReadAtAll: %d of %d, %d, %w", n, len(x)-7, y[0], err)
	}
	n, err = f.ReadAt(Of(y[:10]), 1000)
	if err != nil || n != 10 || y[9] != x[1009] {
		return fmt.Errorf("ReadAt: %d, %d, %w", n, y[9], err)
	}
	if err := f.SetView(ctx, 16, nil, 0); err != nil {
		return err
	}
	whole := make([]int64, rows*all)
	if n, err := f.ReadAtAll(ctx, Of(whole), 0); err != nil || n != len(whole) {
		return fmt.Errorf("the whole: %d, %w", n, err)
	}
	for i, v := range whole {
		if v != int64(i) {
			return fmt.Errorf("element %d of the file is %d", i, v)
		}
	}
	return errors.Join(pointers(ctx, c, f), f.Sync(ctx), f.Close(ctx))
}

// pointers writes by the shared pointer: in the order of the members, and in any order.
func pointers(ctx context.Context, c *Comm, f *File) error {
	me := int32(c.Rank())
	if err := f.WriteOrdered(ctx, Of([]int32{me, -me}[:1+me%2])); err != nil { // an odd member writes two
		return err
	}
	if err := f.WriteShared(ctx, Of([]int32{100 + me})); err != nil {
		return err
	}
	n := c.Size()
	got := make([]int32, n+n/2+n)
	if err := errors.Join(f.SetView(ctx, 16, nil, 0), c.Barrier(ctx)); err != nil {
		return err
	}
	if _, err := f.ReadAt(Of(got), 0); err != nil {
		return err
	}
	at := 0
	for rank := range int32(n) {
		if got[at] != rank || rank%2 == 1 && got[at+1] != -rank {
			return fmt.Errorf("WriteOrdered: %v", got)
		}
		at += 1 + int(rank)%2
	}
	seen := map[int32]bool{}
	for _, v := range got[at:] {
		seen[v] = v >= 100
	}
	if len(seen) != n {
		return fmt.Errorf("WriteShared: %v", got[at:])
	}
	one := make([]int32, 1)
	if _, err := f.ReadOrdered(ctx, Of(one)); err != nil || one[0] != got[me] {
		return fmt.Errorf("ReadOrdered: %d, %w", one[0], err)
	}
	_, err := f.ReadShared(ctx, Of(one))
	return err
}

// TestFileErrors: what one member cannot do is an error of all; a view that cannot be is refused.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		if _, err := OpenFile(ctx, c, filepath.Join(dir, "none", "f"), os.O_RDWR, 0); err == nil {
			return errors.New("a file that is not there is opened")
		}
		f, err := OpenFile(ctx, c, filepath.Join(dir, "f"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		for _, s := range []*Section{Indexed([]int{1, 1}, []int{5, 2}), Vector(0, 2, 2, 1), Vector(0, 0, 1, 1)} {
			if f.SetView(ctx, 0, s, 10) == nil {
				return fmt.Errorf("%+v is taken for a view", s)
			}
		}
		if err := f.WriteAtAll(ctx, Of([]int{1}), -c.Rank()); err == nil {
			return errors.New("a place before the beginning is taken by one member")
		}
		if err := f.WriteAtAll(ctx, none, 0); err != nil {
			return err
		}
		return f.Close(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
