// Counter hands out tickets: all ranks draw numbers from one word in the
// memory of rank 0, by remote fetch-add. No number is drawn twice, and rank 0
// runs no code for it.
//
//	weft run -n 4 ./examples/counter
//	weft run -n 4 -transport udp ./examples/counter -count 1000
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"

	"weft"
)

func main() {
	count := flag.Int("count", 100000, "tickets for each rank")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return counter(ctx, p, os.Stdout, *count) })
}

func counter(ctx context.Context, p *weft.Proc, out io.Writer, count int) error {
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	defer port.Close()
	if p.Rank() != 0 {
		drawn, err := draw(ctx, p, count)
		if err != nil {
			return err
		}
		return port.Send(ctx, 0, drawn)
	}
	word, err := p.OpenRegion(ctx, "tickets", 8, nil)
	if err != nil {
		return err
	}
	defer word.Close()
	drawn, err := draw(ctx, p, count)
	if err != nil {
		return err
	}
	seen := make(tickets, p.Size()*count)
	if err := seen.mark(0, drawn); err != nil {
		return err
	}
	for range p.Size() - 1 {
		m, err := port.Recv(ctx)
		if err != nil {
			return err
		}
		if err := seen.mark(m.From, m.Data); err != nil {
			return err
		}
		m.Release()
	}
	if sum := word.Load(0); sum != uint64(len(seen)) {
		return fmt.Errorf("the counter stands at %d, not %d", sum, len(seen))
	}
	_, err = fmt.Fprintf(out, "%d ranks drew %d tickets, each once\n", p.Size(), len(seen))
	return err
}

// draw draws tickets, 8 bytes each.
func draw(ctx context.Context, p *weft.Proc, count int) (drawn []byte, err error) {
	word, err := p.AttachRegion(ctx, 0, "tickets") // waits until rank 0 has exposed it
	if err != nil {
		return nil, err
	}
	for range count {
		ticket, err := word.FetchAdd(ctx, 0, 1)
		if err != nil {
			return nil, err
		}
		drawn = binary.LittleEndian.AppendUint64(drawn, ticket)
	}
	return drawn, nil
}

// tickets tells which have been drawn.
type tickets []bool

// mark notes a ticket that a rank drew, and checks that no rank has drawn it before.
func (t tickets) mark(rank int, drawn []byte) error {
	for ; len(drawn) > 0; drawn = drawn[8:] {
		n := binary.LittleEndian.Uint64(drawn)
		if n >= uint64(len(t)) || t[n] {
			return fmt.Errorf("rank %d drew %d, which it cannot have", rank, n)
		}
		t[n] = true
	}
	return nil
}
