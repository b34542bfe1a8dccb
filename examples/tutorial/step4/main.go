// Step 4 of docs/TUTORIAL.md: a rank crashes while it holds the lock, on a simulated
// cluster.
//
//	go run ./examples/tutorial/step4
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"weft"
	"weft/examples/tutorial/tally"
)

func main() {
	if err := simulate(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// simulate runs the job of step 3 on four machines. Rank 2 crashes when it begins its
// fourth access to the record: its second write.
func simulate(out io.Writer) error {
	cluster := weft.Cluster{
		Ranks: 4,
		Link:  "10Gbps,1us",
		Faults: []weft.Fault{{
			Kind:  weft.Crash,
			Ranks: []int{2},
			After: weft.Operations{Rank: 2, Count: 4},
		}},
	}
	result, err := weft.Simulate(context.Background(), cluster, func(ctx context.Context, p *weft.Proc) error {
		t, err := tally.Open(ctx, p)
		if err != nil {
			return err
		}
		return t.Run(ctx, out, func(task uint64) uint64 {
			_ = p.Sleep(ctx, time.Millisecond) // a task takes a millisecond of virtual time
			return tally.Square(task)
		})
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "the job took", result.Time.Round(time.Millisecond), "of virtual time")
	return nil
}
