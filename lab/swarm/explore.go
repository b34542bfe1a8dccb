package swarm

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Explore runs seed after seed, from first on, until count have been run or the
// context ends, on all processors. Each result goes to done, in no order, one
// at a time; when done returns false no more are begun.
func Explore(ctx context.Context, first, count uint64, done func(Result) bool) {
	var (
		next atomic.Uint64
		stop atomic.Bool
		mu   sync.Mutex
		wg   sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ctx.Err() == nil && !stop.Load() {
				i := next.Add(1) - 1
				if i >= count {
					return
				}
				r := Run(FromSeed(first+i), nil)
				mu.Lock()
				if !done(r) {
					stop.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
