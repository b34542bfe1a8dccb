package weft

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTasksAndGo: goroutines of a simulated rank hand over by a channel, exclude each
// other while weft is waited for, and are waited for by a wait group. With channels
// the same seed does the same; which goroutine gets a mutex is not the seed's choice.
func TestTasksAndGo(t *testing.T) {
	run := func(seed uint64, lockers [2]sync.Locker) (*Simulation, string) {
		var log strings.Builder
		s, err := Simulate(within(t), Cluster{Ranks: 2, Seed: seed}, func(ctx context.Context, p *Proc) error {
			q, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			var wg sync.WaitGroup
			mu := lockers[p.Rank()]
			var failed error
			messages := make(chan string)
			for i := range 3 {
				wg.Add(1)
				p.Go(func() {
					defer wg.Done()
					for k := range 5 {
						mu.Lock()
						err := q.Send(ctx, 1-p.Rank(), fmt.Appendf(nil, "%d.%d ", i, k))
						if err == nil {
							err = q.Flush(ctx)
						}
						mu.Unlock()
						if err != nil {
							failed = err
						}
					}
				})
			}
			p.Go(func() { // receives, and hands over
				defer close(messages)
				for range 15 {
					m, err := q.Recv(ctx)
					if err != nil {
						failed = err
						return
					}
					messages <- string(m.Data)
					m.Release()
				}
			})
			for m := range messages {
				if p.Rank() == 0 {
					log.WriteString(m)
				}
			}
			wg.Wait()
			return failed
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return s, log.String()
	}
	for seed := range uint64(4) {
		semaphores := [2]sync.Locker{make(semaphore, 1), make(semaphore, 1)}
		a, order := run(seed, semaphores)
		if b, again := run(seed, semaphores); a.Hash != b.Hash || again != order {
			t.Errorf("seed %d: %q, then %q", seed, order, again)
		}
		_, other := run(seed, [2]sync.Locker{new(sync.Mutex), new(sync.Mutex)})
		if strings.Count(order, " ") != 15 || strings.Count(other, " ") != 15 {
			t.Errorf("seed %d: %q, %q", seed, order, other)
		}
	}
}

// A semaphore is a lock made of a channel, which hands it on in order.
type semaphore chan struct{}

func (s semaphore) Lock()   { s <- struct{}{} }
func (s semaphore) Unlock() { <-s }

// TestStrangeGoroutine: a goroutine that a go statement has started is told so when
// it uses weft in a simulation.
func TestStrangeGoroutine(t *testing.T) {
	told := make(chan any, 1)
	_, err := Simulate(within(t), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			go func() {
				defer func() { told <- recover() }()
				_ = q.Send(ctx, 1, nil)
			}()
			told <- <-told // as a program would wait for it
		}
		return p.Sleep(ctx, time.Millisecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(<-told); !strings.Contains(text, "Proc.Go: rank 0 has one that was not") {
		t.Errorf("got %s", text)
	}
}

// TestStuckInGo: a simulation in which a goroutine waits in Go for ever ends, and says
// so.
func TestStuckInGo(t *testing.T) {
	_, err := Simulate(t.Context(), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			<-make(chan int)
		}
		return p.Barrier("b", &BarrierConfig{Algorithm: "central"}).Wait(ctx)
	})
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "rank 0: a goroutine waits in Go: chan receive") ||
		!strings.Contains(err.Error(), "task_test.go:") {
		t.Errorf("got %v", err)
	}
}

// TestTaskOutlivesRank: goroutines that live on when their rank's function has returned
// get ErrClosed, whatever they do.
func TestTaskOutlivesRank(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		ends := map[string]error{}
		work := func(ctx context.Context, p *Proc) error {
			q, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			drafts, err := p.OpenPort(2, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 0 {
				p.Go(func() { _, ends["recv"] = q.Recv(ctx) })
				p.Go(func() {
					for late := 0; late < 50; { // also long after the first refusal
						d, err := drafts.Reserve(ctx, 0, 8)
						if err == nil {
							err = d.Commit(ctx)
						}
						if ends["draft"] = err; err != nil {
							late++
							_ = p.Sleep(ctx, time.Millisecond)
						}
						if late > 1 && !errors.Is(err, ErrClosed) {
							t.Errorf("a draft on a closed Proc: %v", err)
						}
					}
				})
			}
			return p.Sleep(ctx, time.Millisecond)
		}
		if _, err := Simulate(within(t), Cluster{Ranks: n}, work); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"recv", "draft"} {
			if err := ends[what]; !errors.Is(err, ErrClosed) && !(n > 1 && what == "recv" && errors.Is(err, ErrPeer)) {
				t.Errorf("%d ranks: %s has ended with %v", n, what, ends[what])
			}
		}
	}
}

// TestClockOfStrangers: a goroutine that has no turn in a simulation may read the clock while
// time passes.
func TestClockOfStrangers(t *testing.T) {
	_, err := Simulate(within(t), Cluster{Ranks: 1}, func(ctx context.Context, p *Proc) error {
		var over atomic.Bool
		read := make(chan bool)
		go func() {
			inOrder := true
			for last := p.Now(); !over.Load(); runtime.Gosched() {
				now := p.Now()
				inOrder = inOrder && now >= last
				last = now
			}
			read <- inOrder
		}()
		for range 1000 {
			if err := p.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		over.Store(true)
		if !<-read {
			t.Error("the clock goes back")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
