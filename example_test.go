package weft_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"weft"
)

// Two ranks of one process: one sends, one receives.
func ExampleLocal() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		port, err := p.OpenPort(1, nil)
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
		region, err := p.OpenRegion(ctx, "inbox", 8, nil)
		if err != nil {
			return err
		}
		next, err := p.AttachRegion(ctx, (p.Rank()+1)%p.Size(), "inbox")
		if err != nil {
			return err
		}
		if err := p.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
		if err := next.Put(0, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
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
			if _, err := p.OpenRegion(ctx, "number", 8, &weft.RegionConfig{Lock: "pen"}); err != nil {
				return err
			}
		}
		number, err := p.AttachRegion(ctx, 0, "number")
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

// A farm that survives the deaths of its workers: rank 0 hands out work, and hands out
// again what the dead had. The test of it lets two of four workers crash, one after
// three results, one in the middle of the job.
func ExampleFault() {
	const tasks = 20
	farm := func(ctx context.Context, p *weft.Proc) error {
		port, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() > 0 { // a worker: until told to stop
			for {
				m, err := port.RecvFrom(ctx, 0)
				if err != nil {
					return err
				}
				task := m.Data[0]
				m.Release()
				if task == tasks {
					return nil
				}
				if err := p.Sleep(ctx, time.Millisecond); err != nil { // the work
					return err
				}
				if err := port.Send(ctx, 0, []byte{task}); err != nil {
					return err
				}
			}
		}
		var todo []byte
		for i := range tasks {
			todo = append(todo, byte(i))
		}
		has := map[int]byte{} // what each worker does
		give := func(rank int) {
			if len(todo) > 0 && port.Send(ctx, rank, todo[:1]) == nil {
				has[rank] = todo[0]
				todo = todo[1:]
			}
		}
		for rank := 1; rank < p.Size(); rank++ {
			give(rank)
		}
		done := map[byte]bool{}
		var dead []int
		for len(done) < tasks {
			m, err := port.Recv(ctx)
			var gone *weft.PeerError
			if errors.As(err, &gone) {
				dead = append(dead, gone.Rank)
				if task, ok := has[gone.Rank]; ok {
					todo = append(todo, task)
					delete(has, gone.Rank)
				}
				for rank := 1; rank < p.Size(); rank++ { // some may have nothing to do
					if _, busy := has[rank]; !busy && !slices.Contains(dead, rank) {
						give(rank)
					}
				}
				continue
			}
			if err != nil {
				return err
			}
			done[m.Data[0]] = true
			delete(has, m.From)
			give(m.From)
			m.Release()
		}
		slices.Sort(dead)
		fmt.Printf("%d results; dead: %v\n", len(done), dead)
		for rank := 1; rank < p.Size(); rank++ {
			if !slices.Contains(dead, rank) {
				if err := port.Send(ctx, rank, []byte{tasks}); err != nil {
					return err
				}
			}
		}
		return nil
	}

	faults := []weft.Fault{
		{Kind: weft.Crash, Ranks: []int{2}, After: weft.Operations{Rank: 2, Count: 4}},
		{Kind: weft.Crash, Ranks: []int{4}, After: weft.Operations{Rank: 0, Count: 12}},
	}
	_, err := weft.Simulate(context.Background(), weft.Cluster{Ranks: 5, Faults: faults}, farm)
	fmt.Println(err)
	// Output:
	// 20 results; dead: [2 4]
	// <nil>
}
