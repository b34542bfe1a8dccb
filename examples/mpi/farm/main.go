// A master hands out ranges of numbers, and workers look for the primes in them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"weft"
	"weft/mpi"
)

const (
	ranges = 200
	width  = 1000
	work   = 1
	stop   = 2
)

type found struct {
	Range, Primes int32
	Inverses      float64 // the sum of 1/p
}

func search(r int32) found {
	f := found{Range: r}
	for n := max(r*width, 2); n < (r+1)*width; n++ {
		d := int32(2)
		for d*d <= n && n%d != 0 {
			d++
		}
		if d*d > n {
			f.Primes++
			f.Inverses += 1 / float64(n)
		}
	}
	return f
}

func master(ctx context.Context, c *mpi.Comm, out io.Writer) {
	var all [ranges]found
	f := make([]found, 1)
	next := []int32{0}
	for workers := c.Size() - 1; workers > 0; {
		status := mpi.Must(c.Recv(ctx, mpi.Of(f), mpi.AnySource, mpi.AnyTag))
		if status.Tag == work {
			all[f[0].Range] = f[0]
		}
		if next[0] < ranges {
			mpi.Check(c.Send(ctx, mpi.Of(next), status.Source, work))
			next[0]++
		} else {
			mpi.Check(c.Send(ctx, mpi.Of(next), status.Source, stop))
			workers--
		}
	}
	var sum found
	for i := range all {
		sum.Primes += all[i].Primes
		sum.Inverses += all[i].Inverses
	}
	fmt.Fprintf(out, "%d primes below %d, sum of inverses %.9f\n", sum.Primes, ranges*width, sum.Inverses)
}

func worker(ctx context.Context, c *mpi.Comm) {
	r := []int32{0}
	mpi.Check(c.Send(ctx, mpi.Of([]found{{}}), 0, stop)) // it has found nothing so far
	for {
		if status := mpi.Must(c.Recv(ctx, mpi.Of(r), 0, mpi.AnyTag)); status.Tag == stop {
			return
		}
		mpi.Check(c.Send(ctx, mpi.Of([]found{search(r[0])}), 0, work))
	}
}

func farm(ctx context.Context, c *mpi.Comm, out io.Writer) {
	if c.Rank() == 0 {
		master(ctx, c, out)
	} else {
		worker(ctx, c)
	}
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, c *mpi.Comm) { farm(ctx, c, os.Stdout) }))
}
