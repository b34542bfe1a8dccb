package weft_test

import (
	"context"
	"fmt"
	"time"

	"weft"
)

// Two ranks of one process: one sends, one receives.
func ExampleLocal() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		port, err := p.Open(ctx, 1, nil)
		if err != nil {
			return err
		}
		defer port.Close()
		if p.Rank() == 0 {
			return port.Send(ctx, 1, []byte("hello"))
		}
		m, err := port.Recv(ctx)
		if err != nil {
			return err
		}
		defer m.Release()
		fmt.Printf("rank %d says %q\n", m.From, m.Data)
		return nil
	})
	fmt.Println(err)
	// Output:
	// rank 0 says "hello"
	// <nil>
}

// A hundred machines on a torus, each of which computes for a millisecond and
// writes a word into the memory of the next. The time is virtual, and the same
// each time.
func ExampleSimulate() {
	c := weft.Cluster{Ranks: 100, Topology: "torus:10x10", Link: "10Gbps,1us"}
	s, err := weft.Simulate(context.Background(), c, func(ctx context.Context, p *weft.Proc) error {
		region, err := p.Expose(ctx, "inbox", 8, nil)
		if err != nil {
			return err
		}
		next, err := p.Attach(ctx, (p.Rank()+1)%p.Size(), "inbox")
		if err != nil {
			return err
		}
		if err := p.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
		if err := next.Put(ctx, 0, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
			return err
		}
		_, err = region.Await(ctx, 0, 0)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Ranks, "ranks,", s.Time.Round(time.Microsecond))
	// Output: 100 ranks, 1.006ms
}
