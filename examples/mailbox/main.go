// Mailbox: all ranks send their findings to a mailbox of rank 0. Rank 0 assigns the memory: ranks
// that send much have rings of their own, and the others share one. It reads the messages in
// the order of their arrival, where they lie.
//
//	weft run -n 4 ./examples/mailbox
//	weft run -n 4 -amt auto ./examples/mailbox
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

var messages = flag.Int("messages", 1000, "what rank 1 sends; the others send a tenth of it")

func main() {
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, *messages, os.Stdout) })
}

func run(ctx context.Context, p *weft.Proc, n int, w io.Writer) error {
	if p.Rank() == 0 {
		return collect(ctx, p, n, w)
	}
	s, err := p.AttachMailbox(ctx, 0, "findings") // waits until the mailbox is there
	if err != nil {
		return err
	}
	for i := range share(p.Rank(), n) {
		finding := binary.LittleEndian.AppendUint64(nil, uint64(i))
		if err := s.PushTagged(ctx, uint64(i), append(finding, make([]byte, 100)...)); err != nil {
			return err
		}
	}
	return nil
}

// share is how many messages a rank sends.
func share(rank, n int) int {
	if rank == 1 {
		return n
	}
	return n / 10
}

func collect(ctx context.Context, p *weft.Proc, n int, w io.Writer) error {
	m, err := p.OpenMailbox("findings", nil)
	if err != nil {
		return err
	}
	defer m.Close()
	expected := 0
	for rank := 1; rank < p.Size(); rank++ {
		expected += share(rank, n)
	}
	from := make([]int, p.Size())
	for range expected {
		d, err := m.Next(ctx)
		if err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint64(d.Data); got != uint64(from[d.From]) || got != d.Tag {
			return fmt.Errorf("rank %d: message %d where %d was due", d.From, got, from[d.From])
		}
		from[d.From]++
		d.Release() // the ring's room is free again
	}
	for rank := 1; rank < p.Size(); rank++ {
		fmt.Fprintf(w, "rank %d: %d messages, in ring %d\n", rank, from[rank], m.RingOf(rank))
	}
	rings, all := m.MemoryBytes()
	fmt.Fprintf(w, "%d bytes of rings, %d in all\n", rings, all)
	return nil
}
