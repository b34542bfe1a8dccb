package perf

import (
	"context"
	"time"

	"weft"
)

// A Move is a way to move bytes in memory on which the libraries are built: one line of -json. Moves stand for
// figures 2 and 3 of [Konishi97], which show programmed I/O and DMA between memory and card, and copies.
type Move struct {
	Test  string    `json:"test"` // "moves"
	Name  string    `json:"name"`
	Copy  bool      `json:"copy"` // between memory of one process
	Sizes []int     `json:"sizes"`
	MBs   []float64 `json:"mb_s"`
}

// MeasureMoves measures copies in this process, and PUSH, PULL and PUT of a mapped region.
func MeasureMoves(sizes []int) []Move {
	moves := []Move{
		{Name: "copy", Copy: true}, {Name: "copy from other memory each time", Copy: true},
		{Name: "PUSH"}, {Name: "PULL"}, {Name: "PUT of 32 B at a time"},
	}
	_ = weft.Local(context.Background(), 1, func(ctx context.Context, p *weft.Proc) error {
		const cold = 64 << 20
		w, err := p.OpenRegion(ctx, "moves", cold, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 0)
		if err != nil {
			return err
		}
		src := make([]byte, cold)
		at := 0
		for i := range src {
			src[i] = 1
		}
		for _, n := range sizes {
			dst := make([]byte, n)
			for i, f := range []func() error{
				func() error { copy(dst, src[:n]); return nil },
				func() error {
					if at += n; at+n > cold {
						at = 0
					}
					copy(dst, src[at:at+n])
					return nil
				},
				func() error { return r.Push(ctx, 0, src[:n]) },
				func() error { return r.Pull(ctx, dst, 0) },
				func() error {
					for off := 0; off < n; off += weft.MaxPut {
						if err := r.Put(off, src[off:min(off+weft.MaxPut, n)]); err != nil {
							return err
						}
					}
					return nil
				},
			} {
				mbs, err := moved(n, f)
				if err != nil {
					return err
				}
				moves[i].MBs = append(moves[i].MBs, mbs)
			}
		}
		return nil
	})
	for i := range moves {
		moves[i].Test = "moves"
		moves[i].Sizes = sizes
	}
	return moves
}

// moved returns the median bandwidth of several runs of f.
func moved(size int, f func() error) (float64, error) {
	n := max(1<<23/size, 4)
	var mbs []float64
	for range 5 {
		start := time.Now()
		if err := repeat(n, f); err != nil {
			return 0, err
		}
		mbs = append(mbs, float64(size)*float64(n)/time.Since(start).Seconds()/1e6)
	}
	return median(mbs), nil
}
