// Step 5 of docs/TUTORIAL.md: the job of step 3 on two hosts, where a rank is killed.
//
//	sudo weftlab lab -hosts 2 -- weft run -n 4 -survive ./examples/tutorial/step5
package main

import (
	"context"
	"fmt"
	"os"

	"weft"
	"weft/examples/tutorial/tally"
)

const victim = 2 // the rank that dies while it holds the pen

func main() { weft.Main(run) }

func run(ctx context.Context, p *weft.Proc) error {
	fmt.Printf("rank %d is on %s\n", p.Rank(), p.Host())
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	t, err := tally.Open(ctx, p)
	if err != nil {
		return err
	}
	if p.Rank() != victim {
		m, err := port.RecvFrom(ctx, victim) // waits until the victim holds the pen
		if err != nil {
			return err
		}
		m.Release()
	}
	return t.Run(ctx, os.Stdout, func(task uint64) uint64 {
		if p.Rank() == victim {
			die(ctx, p, port)
		}
		return tally.Square(task)
	})
}

// die tells the other ranks that this one holds the pen, waits until they have accepted
// that, and kills its own process.
func die(ctx context.Context, p *weft.Proc, port *weft.Port) {
	for rank := range p.Size() {
		if rank != p.Rank() {
			_ = port.Send(ctx, rank, []byte("I hold the pen"))
		}
	}
	_ = port.Flush(ctx)
	fmt.Printf("rank %d dies\n", p.Rank())
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}
