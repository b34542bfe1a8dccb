// Bulk sends many bytes from each rank to the next and checks that every message comes
// once, in order and unchanged: a test of networks that lose, repeat and reorder packets.
//
//	weft run -n 2 ./examples/bulk
//	weftlab lab -loss 0.01 -- weft run -n 2 -transport udp ./examples/bulk -mib 10240
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"

	"weft"
)

func main() {
	mib := flag.Int("mib", 64, "MiB that every rank sends")
	size := flag.Int("size", 64<<10, "bytes of a message, at least 8")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, os.Stdout, *mib, *size) })
}

// cycle is after how many messages the same bytes come again, with another number.
const cycle = 251

// A source makes messages: a number, and bytes that differ from those of the messages
// before and after.
type source struct{ block []byte }

func newSource(size int) source {
	s := source{make([]byte, size+cycle)}
	x := uint64(1)
	for i := range s.block {
		x = x*6364136223846793005 + 1442695040888963407
		s.block[i] = byte(x >> 56)
	}
	return s
}

// body is what follows the number of message i of so many bytes.
func (s source) body(i, size int) []byte { return s.block[i%cycle:][:size-8] }

func run(ctx context.Context, p *weft.Proc, out io.Writer, mib, size int) error {
	if mib < 1 || size < 8 || size > 1<<30 {
		return fmt.Errorf("-mib %d -size %d: must be at least 1 MiB, and messages of 8 bytes to 1 GiB", mib, size)
	}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	s := newSource(size)
	messages := max(mib<<20/size, 1)
	next := (p.Rank() + 1) % p.Size()
	prev := (p.Rank() + p.Size() - 1) % p.Size()
	began := p.Now()
	var failed error
	sending := p.Go(func() { failed = s.send(ctx, q, next, messages, size) })
	for i := range messages {
		m, err := q.RecvFrom(ctx, prev)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if len(m.Data) != size || binary.LittleEndian.Uint64(m.Data) != uint64(i) ||
			!bytes.Equal(m.Data[8:], s.body(i, size)) {
			return fmt.Errorf("message %d of rank %d has not come as it was sent", i, prev)
		}
		m.Release()
	}
	if err := cmp.Or(sending.Wait(ctx), failed); err != nil {
		return err
	}
	if p.Rank() == 0 {
		st := p.Stats()
		fmt.Fprintf(out, "%d messages of %d bytes: each came once, in order, unchanged; %.0f MB/s, %d packets sent again\n",
			messages, size, float64(messages)*float64(size)/1e6/(p.Now()-began).Seconds(), st.Retransmitted)
	}
	return q.Flush(ctx)
}

// send sends the messages of a rank.
func (s source) send(ctx context.Context, q *weft.Port, to, messages, size int) error {
	b := make([]byte, size)
	for i := range messages {
		binary.LittleEndian.PutUint64(b, uint64(i))
		copy(b[8:], s.body(i, size))
		if err := q.Send(ctx, to, b); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}
