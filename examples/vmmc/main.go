// Vmmc plays the game of life on a torus. Each rank has a band of rows, and sends its outermost rows
// into the memory of its neighbours by VMMC. That memory is exported in two copies: while a rank
// reads the rows of one generation, those of the next may arrive. A word behind each row holds the
// generation that it belongs to. No rank receives messages, and ranks wait only for data.
//
//	weft run -n 4 ./examples/vmmc
//	weft run -n 4 -pretend 2 ./examples/vmmc -rows 1024 -generations 500
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"weft"
	"weft/vmmc"
)

func main() {
	var w world
	flag.IntVar(&w.rows, "rows", 256, "rows of the torus")
	flag.IntVar(&w.cols, "cols", 256, "columns of the torus")
	flag.IntVar(&w.generations, "generations", 100, "how long to play")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return life(ctx, p, os.Stdout, w) })
}

// life plays on all ranks; rank 0 compares the end with what it finds alone.
func life(ctx context.Context, p *weft.Proc, out io.Writer, w world) error {
	if w.rows < p.Size() || w.cols < 1 || w.generations < 0 {
		return fmt.Errorf("a torus of %d rows and %d columns is too small for %d ranks", w.rows, w.cols, p.Size())
	}
	e, err := vmmc.Open(p, 1, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	end, err := e.Export(ctx, "end", w.rows*w.cols, nil) // of rank 0 it is used
	if err != nil {
		return err
	}
	h, err := newHalo(ctx, p, e, w)
	if err != nil {
		return err
	}
	for g := range w.generations {
		if err := h.generation(ctx, g); err != nil {
			return err
		}
	}
	if err := h.give(ctx, e, end); err != nil {
		return err
	}
	if err := p.Barrier("end", nil).Wait(ctx); err != nil || p.Rank() > 0 {
		return err
	}
	for i, cell := range w.alone() {
		if end.Bytes()[i] != cell {
			return fmt.Errorf("row %d, column %d: %d, should be %d", i/w.cols, i%w.cols, end.Bytes()[i], cell)
		}
	}
	_, err = fmt.Fprintf(out, "%d ranks played %d generations on a torus of %dx%d: the same as one\n", p.Size(),
		w.generations, w.rows, w.cols)
	return err
}
