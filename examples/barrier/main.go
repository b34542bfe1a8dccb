// Barrier goes from barrier to barrier and says how long one takes:
//
//	weft run -n 4 ./examples/barrier -algorithm tree
//	weft sim -n 1024 -topology torus:32x32 ./examples/barrier -algorithm dissemination
//
// In a simulation that is virtual time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"weft"
)

func main() {
	algorithm := flag.String("algorithm", "auto", "how the ranks wait for each other; see weft.BarrierAlgorithm")
	count := flag.Int("count", 100, "barriers")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		return pass(ctx, p, os.Stdout, weft.BarrierAlgorithm(*algorithm), *count)
	})
}

func pass(ctx context.Context, p *weft.Proc, out io.Writer, algorithm weft.BarrierAlgorithm, count int) error {
	b := p.Barrier("example", &weft.BarrierConfig{Algorithm: algorithm})
	if err := b.Wait(ctx); err != nil { // the first makes it
		return err
	}
	start := p.Now()
	for range count {
		if err := b.Wait(ctx); err != nil {
			return err
		}
	}
	each := (p.Now() - start) / time.Duration(count)
	if p.Rank() > 0 {
		return nil
	}
	why, err := b.Why(ctx)
	fmt.Fprintf(out, "%d ranks, %v a barrier; %s\n", p.Size(), each, why)
	return err
}
