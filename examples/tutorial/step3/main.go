// Step 3 of docs/TUTORIAL.md: the ranks change one record in turn, under a lock.
//
//	weft run -n 4 ./examples/tutorial/step3
package main

import (
	"context"
	"os"

	"weft"
	"weft/examples/tutorial/tally"
)

func main() { weft.Main(run) }

func run(ctx context.Context, p *weft.Proc) error {
	t, err := tally.Open(ctx, p)
	if err != nil {
		return err
	}
	return t.Run(ctx, os.Stdout, tally.Square)
}
