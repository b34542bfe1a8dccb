// Job is what the page is tested with. Each rank sends so many messages of so many bytes to the
// next. Then ranks 0 and 1 wait for each other's lock for good, and the others in a barrier.
package main

import (
	"context"
	"flag"

	"weft"
)

func main() {
	messages := flag.Int("messages", 10, "that each rank sends to the next")
	size := flag.Int("size", 1000, "bytes of each")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		for range *messages {
			if err := q.Send(ctx, (p.Rank()+1)%p.Size(), make([]byte, *size)); err != nil {
				return err
			}
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			m.Release()
		}
		met := p.Barrier("met", nil)
		if err := met.Wait(ctx); err != nil {
			return err
		}
		if p.Rank() > 1 {
			return met.Wait(ctx)
		}
		locks := []*weft.Lock{p.Lock("left", nil), p.Lock("right", nil)}
		if _, err := locks[p.Rank()].Lock(ctx); err != nil {
			return err
		}
		if err := p.Barrier("both", &weft.BarrierConfig{Members: []int{0, 1}}).Wait(ctx); err != nil {
			return err
		}
		_, err = locks[1-p.Rank()].Lock(ctx)
		return err
	})
}
