package stress

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"weft/mpi"
)

// window: members add to, and swap, the numbers of each other, in epochs of all kinds. What comes out is known.
func window(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	var c *mpi.Comm
	if a.call("CreateGroup", func() (err error) { c, err = comm(a, s, 0); return err }) != fine {
		return
	}
	defer func() { c.Revoke(errEnded) }() // a member that has met an error does not come to Free
	n := c.Size()
	places := 1 + s.shared.IntN(40)
	var w *mpi.Window[int64]
	if a.call("NewWindow", func() (err error) { w, err = mpi.NewWindow[int64](a.ctx, c, places); return err }) != fine {
		return
	}
	defer func() { w.Comm().Revoke(errEnded) }() // nor to the next Fence
	want := make([]int64, places)                // of this member
	for round := range 1 + s.shared.IntN(3) {
		for from := range n {
			rng := chance(s.seed, s.name, round, from)
			for range 1 + rng.IntN(12) {
				to := rng.IntN(n)
				at := rng.IntN(places)
				add := make([]int64, 1+rng.IntN(places-at))
				for i := range add {
					add[i] = rng.Int64N(1000)
					if to == c.Rank() {
						want[at+i] += add[i]
					}
				}
				how := rng.IntN(4)
				if from == c.Rank() && a.call(fmt.Sprintf("an update of %d numbers", len(add)),
					func() error { return addTo(a, w, add, to, at, how) }) != fine {
					return
				}
			}
		}
		if a.call("Window.Fence", func() error { return w.Fence(a.ctx) }) != fine {
			return
		}
		got := make([]int64, places)
		if a.call("Window.Get", func() error {
			if err := w.Get(a.ctx, got, c.Rank(), 0); err != nil {
				return err
			}
			return w.Fence(a.ctx) // the next round begins when all have looked
		}) != fine {
			return
		}
		for i := range want {
			if got[i] != want[i] {
				a.found("%s: round %d: number %d is %d, not %d", a.name, round, i, got[i], want[i])
				return
			}
		}
	}
	if a.call("Window.Free", func() error { return w.Free(a.ctx) }) == fine {
		a.call("Comm.Free", func() error { return c.Free(a.ctx) })
	}
}

var errEnded = errors.New("a member has ended its scene")

// addTo adds numbers to those of a member, in one of the ways that there are.
func addTo(a *actor, w *mpi.Window[int64], add []int64, to, at, how int) error {
	switch how {
	case 0:
		for i, v := range add {
			if _, err := w.FetchOp(a.ctx, v, to, at+i, mpi.UpdateSum); err != nil {
				return err
			}
		}
		return nil
	case 1:
		old := make([]int64, len(add))
		if err := w.GetAccumulate(a.ctx, add, old, to, at, mpi.UpdateSum); err != nil {
			return err
		}
		return w.Flush(a.ctx, to)
	case 2: // by comparing and swapping, since others add without the lock
		if err := w.LockShared(a.ctx, to); err != nil {
			return err
		}
		for i, v := range add {
			for old := int64(0); ; {
				seen, err := w.CompareSwap(a.ctx, old, old+v, to, at+i)
				if err != nil {
					return err
				}
				if seen == old {
					break
				}
				old = seen
			}
		}
		return w.Unlock(a.ctx, to)
	default:
		return w.Accumulate(a.ctx, add, to, at, mpi.UpdateSum)
	}
}

// file: members write their rows of a table to a file, and read their columns of it.
func file(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	rows := 1 + s.shared.IntN(30)
	wide := 1 + s.shared.IntN(40) // numbers of each member in a row
	var c *mpi.Comm
	if a.call("CreateGroup", func() (err error) { c, err = comm(a, s, 0); return err }) != fine {
		return
	}
	defer func() { c.Revoke(errEnded) }() // a member that has met an error does not come to Free
	n := c.Size()
	me := c.Rank()
	name := filepath.Join(os.TempDir(), fmt.Sprintf("weft-stress-%d-%d", s.seed, s.number))
	if me == 0 {
		defer os.Remove(name)
	}
	var f *mpi.File
	if a.call("OpenFile", func() (err error) {
		f, err = mpi.OpenFile(a.ctx, c, name, os.O_RDWR|os.O_CREATE, 0o600)
		return err
	}) != fine {
		return
	}
	value := func(row, column int) int64 { return int64(row*1_000_003 + column) }
	mine := make([]int64, rows*wide)
	for i := range mine {
		mine[i] = value(i/wide, me*wide+i%wide)
	}
	ok := a.call("File.WriteAtAll", func() error {
		if err := f.SetView(a.ctx, 0, mpi.Vector(me*wide, 1, wide, 1), n*wide); err != nil {
			return err
		}
		return f.WriteAtAll(a.ctx, mpi.Of(mine), 0)
	}) == fine
	all := make([]int64, rows*wide*n)
	ok = ok && a.call("File.ReadAtAll", func() error {
		if err := f.SetView(a.ctx, 0, nil, 0); err != nil {
			return err
		}
		_, err := f.ReadAtAll(a.ctx, mpi.Of(all), 0)
		return err
	}) == fine
	for i, v := range all {
		if ok && v != value(i/(n*wide), i%(n*wide)) {
			a.found("%s: number %d of %d rows of %d by %d is %d", a.name, i, rows, wide, n, v)
			break
		}
	}
	if a.call("File.Close", func() error { return f.Close(a.ctx) }) == fine {
		a.call("Comm.Free", func() error { return c.Free(a.ctx) })
	}
}
