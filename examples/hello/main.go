// Hello sends a greeting around the ring of ranks.
//
//	weft run -n 4 ./examples/hello
package main

import (
	"context"
	"fmt"

	"weft"
)

func main() { weft.Main(run) }

func run(ctx context.Context, p *weft.Proc) error {
	port, err := p.OpenPort(1, nil) // a SEND/RECEIVE context on channel 1
	if err != nil {
		return err
	}
	defer port.Close()

	next := (p.Rank() + 1) % p.Size()
	if err := port.Send(ctx, next, fmt.Appendf(nil, "hello from rank %d", p.Rank())); err != nil {
		return err
	}
	m, err := port.Recv(ctx) // from anyone, in order of arrival
	if err != nil {
		return err
	}
	defer m.Release()
	fmt.Printf("rank %d of %d received: %s\n", p.Rank(), p.Size(), m.Data)
	return nil
}
