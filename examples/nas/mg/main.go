// MG is the Multigrid benchmark of the NAS Parallel Benchmarks: Poisson's equation
// on a cube whose sides are joined, by V-cycles over ever coarser grids. The ranks
// form a box, hold a block of each grid, and tell each other its faces; from the
// coarsest grids some drop out.
//
//	weft run -n 4 ./examples/nas/mg -class A
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

// A class is a size of the problem, with the norm of the residual at the end.
type class struct {
	levels, iterations int // 2^levels points along each side
	smoother           [3]float64
	norm               float64
}

var (
	gentle  = [3]float64{-3. / 8, 1. / 32, -1. / 64}
	classes = map[string]class{
		"S": {5, 4, gentle, 0.5307707005734e-4},
		"W": {7, 4, gentle, 0.6467329375339e-5},
		"A": {8, 4, gentle, 0.2433365309069e-5},
		"B": {8, 20, [3]float64{-3. / 17, 1. / 33, -1. / 61}, 0.1800564401355e-5},
	}
)

const tolerance = 1e-8

// run runs a class, one cycle to warm up and then all of them timed, and compares the norm of the residual with the
// one that is known.
func run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(classes, name)
	if err != nil {
		return err
	}
	s, err := newSolver(ctx, p, c)
	if err != nil {
		return err
	}
	if _, err := s.solve(ctx, 1); err != nil { // not timed, and forgotten
		return err
	}
	if err := s.all.Barrier(ctx); err != nil {
		return err
	}
	n := 1 << c.levels
	if p.Rank() == 0 {
		fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- MG Benchmark\n\n")
		fmt.Fprintf(w, " Size: %dx%dx%d\n Iterations: %d\n Number of processes: %d\n", n, n, n, c.iterations, p.Size())
	}
	start := p.Now()
	norm, err := s.solve(ctx, c.iterations)
	if err != nil {
		return err
	}
	took := p.Now() - start
	right := math.Abs((norm-c.norm)/c.norm) <= tolerance
	if p.Rank() == 0 {
		fmt.Fprintf(w, " L2 Norm is %20.13e\n", norm)
		r := npb.Report{
			Name: "MG", Class: name, Size: n * n * n, Iterations: c.iterations, Time: took, Ranks: p.Size(),
			Operations: 58 * float64(c.iterations) * float64(n*n*n), Operation: "floating point", Verified: right,
		}
		r.Print(w)
	}
	if !right {
		return npb.ErrWrong
	}
	return nil
}
