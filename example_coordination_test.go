package weft_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"weft"
)

// Six ranks use a device that serves two at a time.
func ExampleSemaphore() {
	var inside, tooMany atomic.Int32
	err := weft.Local(context.Background(), 6, func(ctx context.Context, p *weft.Proc) error {
		device := p.Semaphore("device", 2, nil)
		if err := device.Acquire(ctx, 1); err != nil {
			return err
		}
		if inside.Add(1) > 2 {
			tooMany.Add(1)
		}
		inside.Add(-1)
		return device.Release(1)
	})
	fmt.Println(tooMany.Load(), err)
	// Output: 0 <nil>
}

// Rank 1 fills a slot in the memory of rank 0, and rank 0 waits until the slot is full. The
// lock keeps the look at the slot and the wait together: rank 1 cannot signal in between.
func ExampleCond() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		lock := p.Lock("slot", nil)
		full := p.Cond("slot is full")
		if p.Rank() == 1 {
			slot, err := p.AttachRegion(ctx, 0, "slot")
			if err != nil {
				return err
			}
			if _, err := lock.Lock(ctx); err != nil {
				return err
			}
			if _, err := slot.Swap(ctx, 0, 42); err != nil {
				return err
			}
			if _, err := full.Signal(ctx); err != nil {
				return err
			}
			return lock.Unlock()
		}
		slot, err := p.OpenRegion(ctx, "slot", 8, nil)
		if err != nil {
			return err
		}
		if _, err := lock.Lock(ctx); err != nil {
			return err
		}
		for slot.Load(0) == 0 {
			if _, err := full.Wait(ctx, lock); err != nil {
				return err
			}
		}
		fmt.Println(slot.Load(0))
		return lock.Unlock()
	})
	fmt.Println(err)
	// Output:
	// 42
	// <nil>
}

// A lock whose holder crashes goes to the next rank, which is told that what the lock
// protects may be half changed.
func ExampleLock_holderDied() {
	crash := weft.Fault{Kind: weft.Crash, Ranks: []int{2}, After: weft.Operations{Rank: 2, Count: 1}}
	_, err := weft.Simulate(context.Background(), weft.Cluster{Ranks: 3, Faults: []weft.Fault{crash}},
		func(ctx context.Context, p *weft.Proc) error {
			port, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			lock := p.Lock("journal", nil)
			switch p.Rank() {
			case 1:
				if _, err := port.RecvFrom(ctx, 2); err == nil { // rank 2 crashes instead of sending
					return fmt.Errorf("rank 2 has sent")
				}
				grant, err := lock.Lock(ctx)
				if err != nil {
					return err
				}
				fmt.Println("the holder died:", grant.HolderDied)
				return lock.Unlock()
			case 2:
				if _, err := lock.Lock(ctx); err != nil {
					return err
				}
				return port.Send(ctx, 1, []byte("it is mine")) // the first operation: the crash
			}
			return nil
		})
	fmt.Println(err)
	// Output:
	// the holder died: true
	// <nil>
}
