// IS is the Integer Sort of the NAS Parallel Benchmarks: the ranks of keys
// that are spread over all processes, ten times, with a total exchange of the
// keys each time.
//
//	weft run -n 4 ./examples/nas/is -class A
package main

import (
	"context"
	"fmt"
	"io"

	"weft"
	"weft/examples/nas/npb"
)

func main() { npb.Main("S, W, A or B", run) }

// run runs a class, and reports at rank 0. It returns npb.ErrWrong if a key has another rank than the one that is
// known.
func run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(classes, name)
	if err != nil {
		return err
	}
	s, err := newSorter(ctx, p, c)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- IS Benchmark\n\n")
		fmt.Fprintf(w, " Size:  %d  (class %s)\n Iterations:   %d\n Number of processes:     %d\n",
			1<<c.logKeys, c.name, iterations, p.Size())
	}
	took, ok, err := s.run(ctx)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		r := npb.Report{
			Name: "IS", Class: c.name, Size: 1 << c.logKeys, Iterations: iterations, Time: took, Ranks: p.Size(),
			Operations: float64(iterations) * float64(int(1)<<c.logKeys), Operation: "keys ranked", Verified: ok,
		}
		r.Print(w)
	}
	if !ok {
		return npb.ErrWrong
	}
	return nil
}
