// Lock lets all ranks change an account in the memory of rank 0 that is too long for one atomic
// operation. A lock lets one rank change it at a time. The region is guarded by the lock: a rank
// that was wrongly taken for dead, and does not know that it has lost the lock, cannot write any
// more:
//
//	weft run -n 4 ./examples/lock
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"weft"
)

const times = 100

func main() {
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return bank(ctx, p, os.Stdout) })
}

func bank(ctx context.Context, p *weft.Proc, out io.Writer) error {
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "account", 16, &weft.RegionConfig{Lock: "teller"}); err != nil {
			return err
		}
	}
	account, err := p.AttachRegion(ctx, 0, "account")
	if err != nil {
		return err
	}
	teller := p.Lock("teller", nil)
	b := make([]byte, 16) // a balance, and how many changes it has had
	for range times {
		g, err := teller.Lock(ctx)
		if err != nil {
			return err
		}
		if g.HolderDied {
			fmt.Fprintln(out, "the last teller died; its change may be half done")
		}
		mine := account.Under(g)
		if err := mine.Pull(ctx, b, 0); err != nil {
			return err
		}
		balance := binary.LittleEndian.Uint64(b)
		changes := binary.LittleEndian.Uint64(b[8:])
		binary.LittleEndian.PutUint64(b, balance+uint64(p.Rank()))
		binary.LittleEndian.PutUint64(b[8:], changes+1)
		if err := mine.Push(ctx, 0, b); err != nil {
			return err
		}
		if err := teller.Unlock(); err != nil {
			return err
		}
	}
	if err := p.Barrier("closing time", nil).Wait(ctx); err != nil {
		return err
	}
	if p.Rank() > 0 {
		return nil
	}
	g, err := teller.Lock(ctx)
	if err != nil {
		return err
	}
	if err := account.Under(g).Pull(ctx, b, 0); err != nil {
		return err
	}
	fmt.Fprintf(out, "balance %d after %d changes\n", binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]))
	return teller.Unlock()
}
