// EP is the Embarrassingly Parallel benchmark of the NAS Parallel Benchmarks: pairs
// of Gaussian deviates by the polar method, counted by the square annulus that
// they fall into. The ranks talk once, at the end.
//
//	weft run -n 4 ./examples/nas/ep -class A
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

func main() { npb.Main("S, W, A or B", run) }

// A class is a size of the problem, with the sums of the deviates.
type class struct {
	logPairs int
	sx, sy   float64
}

var classes = map[string]class{
	"S": {24, -3.247834652034740e3, -6.958407078382297e3},
	"W": {25, -2.863319731645753e3, -6.320053679109499e3},
	"A": {28, -4.295875165629892e3, -1.580732573678431e4},
	"B": {30, 4.033815542441498e4, -2.660669192809235e4},
}

const (
	seed      = 271828183
	tolerance = 1e-8
	annuli    = 10
	batch     = 1 << 16 // pairs that are summed together, so that rounding does not grow
)

// run runs a class: each rank sums the deviates of its share of the pairs, without messages; two all-reduces add
// the sums.
func run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(classes, name)
	if err != nil {
		return err
	}
	g := mpi.World(p)
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	start := p.Now()
	batches := 1 << c.logPairs / batch
	first := batches * p.Rank() / p.Size()
	last := batches * (p.Rank() + 1) / p.Size()
	sums, counts := deviates(uint64(first), uint64(last))
	if err := mpi.AllReduce(ctx, g, sums, mpi.Sum); err != nil {
		return err
	}
	if err := mpi.AllReduce(ctx, g, counts, mpi.Sum); err != nil {
		return err
	}
	took := p.Now() - start
	right := near(sums[0], c.sx) && near(sums[1], c.sy)
	if p.Rank() == 0 {
		fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- EP Benchmark\n\n")
		fmt.Fprintf(w, " Number of random numbers generated: %d\n Number of active processes: %d\n", 2<<c.logPairs, p.Size())
		fmt.Fprintf(w, " Sums = %25.15e %25.15e\n Counts:\n", sums[0], sums[1])
		for i, n := range counts {
			fmt.Fprintf(w, " %d %14d\n", i, n)
		}
		r := npb.Report{
			Name: "EP", Class: name, Size: 2 << c.logPairs, Time: took, Ranks: p.Size(),
			Operations: float64(int(2) << c.logPairs), Operation: "Random numbers generated", Verified: right,
		}
		r.Print(w)
	}
	if !right {
		return npb.ErrWrong
	}
	return nil
}

func near(got, want float64) bool { return math.Abs((got-want)/want) <= tolerance }

// deviates makes the pairs of some batches: the sums of both, and how many lie in
// each annulus.
func deviates(first, last uint64) (sums []float64, counts []int64) {
	sums = make([]float64, 2)
	counts = make([]int64, annuli)
	r := npb.NewRandom(seed, 2*batch*first)
	for range last - first {
		var sx, sy float64
		for range batch {
			x := 2*r.Next() - 1
			y := 2*r.Next() - 1
			t := x*x + y*y
			if t > 1 {
				continue
			}
			scale := math.Sqrt(-2 * math.Log(t) / t)
			x = x * scale
			y = y * scale
			counts[int(max(math.Abs(x), math.Abs(y)))]++
			sx += x
			sy += y
		}
		sums[0] += sx
		sums[1] += sy
	}
	return sums, counts
}
