// Halo computes how heat spreads over a plate. Each rank has a band of rows, and
// before each step pushes its outermost rows into the memory of its neighbours:
// one-sided writes, then an empty message that says they are there. A message
// never arrives before what was pushed before it.
//
//	weft run -n 4 ./examples/halo
//	weft run -n 4 -pretend 2 ./examples/halo -rows 512 -steps 200
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"weft"
)

func main() {
	var pl plate
	flag.IntVar(&pl.rows, "rows", 256, "rows of the plate")
	flag.IntVar(&pl.cols, "cols", 256, "columns of the plate")
	flag.IntVar(&pl.steps, "steps", 100, "steps in time")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return halo(ctx, p, os.Stdout, pl) })
}

// halo computes the plate on all ranks; rank 0 compares it with what it finds
// alone.
func halo(ctx context.Context, p *weft.Proc, out io.Writer, pl plate) error {
	if pl.rows < p.Size() || pl.cols < 1 {
		return fmt.Errorf("a plate of %d rows and %d columns is too small for %d ranks", pl.rows, pl.cols, p.Size())
	}
	b, err := newBand(ctx, p, pl)
	if err != nil {
		return err
	}
	defer b.close()
	for step := range pl.steps {
		if err := b.exchange(ctx, step); err != nil {
			return err
		}
		b.step()
	}
	if p.Rank() != 0 {
		return b.port.Send(ctx, 0, pack(b.rows()))
	}
	return b.compare(ctx, out)
}

// compare collects the bands, in the order of ranks, and checks every cell.
func (b *band) compare(ctx context.Context, out io.Writer) error {
	want := b.plate.alone()
	got := b.rows()
	for rank := 1; rank < b.p.Size(); rank++ {
		m, err := b.port.RecvFrom(ctx, rank)
		if err != nil {
			return err
		}
		got = append(got, unpack(m.Data)...)
		m.Release()
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("row %d, column %d: %v, should be %v", i/b.plate.cols, i%b.plate.cols, got[i], want[i])
		}
	}
	_, err := fmt.Fprintf(out, "%d ranks computed %d steps of a plate of %dx%d: the same as one\n",
		b.p.Size(), b.plate.steps, b.plate.rows, b.plate.cols)
	return err
}
