package stress

import (
	"context"
	"runtime"
	"sync"
	"time"

	"weft"
	"weft/internal/inside"
)

// Goroutines of a rank wait for each other by the means of this file, which also work in the simulator: there, a
// goroutine that waits in Go keeps virtual time from passing.

// A crew is goroutines of a rank, for which another one waits.
type crew struct {
	p     *weft.Proc
	mu    sync.Mutex
	tasks []*weft.Task
}

// Go starts a goroutine of the crew.
func (c *crew) Go(f func()) {
	t := c.p.Go(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks = append(c.tasks, t)
}

// Wait waits until all goroutines of the crew have ended, and those that they have started.
func (c *crew) Wait() {
	for t := c.next(); t != nil; t = c.next() {
		_ = t.Wait(context.Background())
	}
}

// next returns a goroutine for which Wait has not waited yet, or nil.
func (c *crew) next() (t *weft.Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tasks) > 0 {
		t = c.tasks[0]
		c.tasks = c.tasks[1:]
	}
	return t
}

// await waits until something holds that other goroutines of this rank make true. They call changed then.
func (r *rank) await(ctx context.Context, holds func() bool) error {
	if r.p.Simulated() {
		return inside.OfProc(r.p).Node.AwaitHosted(ctx, holds)
	}
	for {
		r.mu.Lock()
		news := r.news
		r.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// changed makes the goroutines that await something look again.
func (r *rank) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.news)
	r.news = make(chan struct{})
}

// A flag says that something has happened at a rank.
type flag struct {
	r  *rank
	mu sync.Mutex
	up bool
}

func (f *flag) raise() {
	f.mu.Lock()
	f.up = true
	f.mu.Unlock()
	f.r.changed()
}

func (f *flag) raised() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.up
}

// within returns a context that ends after d.
func (r *rank) within(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if !r.p.Simulated() {
		return context.WithTimeout(parent, d)
	}
	ctx, cancel := context.WithCancel(parent)
	r.p.Go(func() {
		_ = r.p.Sleep(ctx, d)
		cancel()
	})
	return ctx, cancel
}

// brief returns a context that ends soon, or has ended.
func (a *actor) brief(parent context.Context) (context.Context, context.CancelFunc) {
	switch a.rng.IntN(4) {
	case 0:
		ctx, cancel := context.WithCancel(parent)
		cancel()
		return ctx, cancel
	case 1:
		ctx, cancel := context.WithCancel(parent)
		a.p.Go(func() {
			runtime.Gosched()
			cancel()
		})
		return ctx, cancel
	default:
		return a.within(parent, time.Duration(a.rng.IntN(2000))*time.Microsecond)
	}
}

// pause lets other goroutines run.
func (a *actor) pause() {
	if a.rng.IntN(4) > 0 && !a.p.Simulated() {
		runtime.Gosched()
		return
	}
	_ = a.p.Sleep(a.ctx, time.Duration(a.rng.IntN(300))*time.Microsecond)
}

// clock returns the time of a clock that all ranks share.
func (r *rank) clock() int64 {
	if r.stage != nil {
		return int64(r.stage.now())
	}
	return time.Now().UnixNano()
}
