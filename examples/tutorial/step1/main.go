// Step 1 of docs/TUTORIAL.md: each rank sends a greeting to the next.
//
//	weft run -n 4 ./examples/tutorial/step1
package main

import (
	"context"
	"fmt"

	"weft"
)

func main() { weft.Main(run) }

func run(ctx context.Context, p *weft.Proc) error {
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if err := port.Send(ctx, (p.Rank()+1)%p.Size(), []byte("hello")); err != nil {
		return err
	}
	m, err := port.Recv(ctx)
	if err != nil {
		return err
	}
	defer m.Release()
	fmt.Printf("rank %d of %d received %q from rank %d\n", p.Rank(), p.Size(), m.Data, m.From)
	return nil
}
