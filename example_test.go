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

// Four ranks change a number that lies at rank 0, each in two steps: the lock
// keeps them apart, and the region takes writes from its holder only.
func ExampleLock() {
	err := weft.Local(context.Background(), 4, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 0 {
			if _, err := p.Expose(ctx, "number", 8, &weft.RegionConfig{Guard: "pen"}); err != nil {
				return err
			}
		}
		number, err := p.Attach(ctx, 0, "number")
		if err != nil {
			return err
		}
		pen := p.Lock("pen", nil)
		change := func(f func(b []byte)) error {
			g, err := pen.Lock(ctx)
			if err != nil {
				return err
			}
			b := make([]byte, 8)
			if err := number.Under(g).Pull(ctx, b, 0); err != nil {
				return err
			}
			f(b)
			if err := number.Under(g).Push(ctx, 0, b); err != nil {
				return err
			}
			return pen.Unlock()
		}
		if err := change(func(b []byte) { b[0] += 10 }); err != nil {
			return err
		}
		if err := p.Barrier("all have written", nil).Wait(ctx); err != nil || p.Rank() > 0 {
			return err
		}
		return change(func(b []byte) { fmt.Println(b[0]) })
	})
	fmt.Println(err)
	// Output:
	// 40
	// <nil>
}

// A rank arrives at a barrier, does what need not wait for the others, and then
// waits for them.
func ExampleBarrier() {
	err := weft.Local(context.Background(), 3, func(ctx context.Context, p *weft.Proc) error {
		b := p.Barrier("step", nil)
		phase, err := b.Arrive(ctx)
		if err != nil {
			return err
		}
		// … what need not wait …
		if err := phase.Wait(ctx); err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println("phase", phase.Number(), "is over")
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// phase 1 is over
	// <nil>
}
