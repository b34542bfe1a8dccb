// CG is the Conjugate Gradient benchmark of the NAS Parallel Benchmarks: the
// smallest eigenvalue of a large sparse matrix by inverse iteration, each step of
// which solves a linear system. The ranks form a grid and hold a block of the
// matrix each.
//
//	weft run -n 4 ./examples/nas/cg -class A
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"weft"
	"weft/examples/nas/npb"
)

func main() { npb.Main("S, W, A or B", run) }

// A class is a size of the problem, with the eigenvalue that is to come out.
type class struct {
	n, nonzeros, iterations int
	shift, zeta             float64
}

var classes = map[string]class{
	"S": {1400, 7, 15, 10, 8.5971775078648},
	"W": {7000, 8, 15, 12, 10.362595087124},
	"A": {14000, 11, 15, 20, 17.130235054029},
	"B": {75000, 13, 75, 60, 22.712745482631},
}

const (
	rcond     = 0.1 // bounds the smallest eigenvalue from below
	inner     = 25  // steps of each solution
	tolerance = 1e-10
)

// run runs a class, once to warm up and then timed, and compares zeta with the one that is known. It returns
// npb.ErrWrong if they differ.
func run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(classes, name)
	if err != nil {
		return err
	}
	s, err := newSolver(ctx, p, c)
	if err != nil {
		return err
	}
	if _, err := s.iterate(ctx); err != nil { // not timed, and forgotten
		return err
	}
	s.reset()
	if err := s.all.Barrier(ctx); err != nil {
		return err
	}
	if p.Rank() == 0 {
		fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- CG Benchmark\n\n")
		fmt.Fprintf(w, " Size: %d\n Iterations: %d\n Number of active processes: %d (%d x %d)\n", c.n, c.iterations, p.Size(),
			s.rows, s.cols)
	}
	start := p.Now()
	zeta := 0.0
	for it := range c.iterations {
		if zeta, err = s.iterate(ctx); err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Fprintf(w, " %4d %22.13f\n", it+1, zeta)
		}
	}
	took := p.Now() - start
	right := math.Abs((zeta-c.zeta)/c.zeta) <= tolerance
	if p.Rank() == 0 {
		perRow := float64(c.nonzeros * (c.nonzeros + 1))
		r := npb.Report{
			Name: "CG", Class: name, Size: c.n, Iterations: c.iterations, Time: took, Ranks: p.Size(),
			Operations: 2 * float64(c.iterations*c.n) * (3 + perRow + inner*(5+perRow) + 3), Operation: "floating point",
			Verified: right,
		}
		r.Print(w)
	}
	if !right {
		return npb.ErrWrong
	}
	return nil
}
