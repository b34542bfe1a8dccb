// Package bootstraptest is the test that every bootstrap.Source must pass.
package bootstraptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"weft/internal/bootstrap"
)

// An Open starts a job of n ranks and returns their sources. Kill ends a rank as if its process
// had been killed; it is nil where ranks cannot die one by one.
type Open func(t *testing.T, n int) (sources []bootstrap.Source, kill func(rank int))

// Run runs all tests.
func Run(t *testing.T, open Open) {
	t.Run("identity", func(t *testing.T) { testIdentity(t, open) })
	t.Run("get waits for put", func(t *testing.T) { testGet(t, open) })
	t.Run("fence", func(t *testing.T) { testFence(t, open) })
	t.Run("context ends waits", func(t *testing.T) { testContext(t, open) })
	t.Run("returned", func(t *testing.T) { testReturned(t, open) })
	t.Run("deaths", func(t *testing.T) { testDeaths(t, open) })
	t.Run("failed", func(t *testing.T) { testFailed(t, open) })
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// All ranks are of one job, whose number and secret no other job has.
func testIdentity(t *testing.T, open Open) {
	a, _ := open(t, 3)
	b, _ := open(t, 2)
	first := a[0].Job()
	other := b[0].Job()
	for i, s := range a {
		j := s.Job()
		if j.Rank != i || j.Size != 3 || j.ID != first.ID || string(j.Secret) != string(first.Secret) || len(j.Secret) != 32 {
			t.Errorf("rank %d is %+v, rank 0 %+v", i, j, first)
		}
		if j.Local < 1 || j.Local > 3 || j.Crowd < j.Local || j.Host == "" {
			t.Errorf("rank %d: %+v", i, j)
		}
	}
	if first.ID == other.ID || string(first.Secret) == string(other.Secret) {
		t.Error("two jobs have the same number or secret")
	}
}

func testGet(t *testing.T, open Open) {
	s, _ := open(t, 3)
	ctx := within(t)
	var wg sync.WaitGroup
	for i := range s {
		wg.Go(func() {
			for j := range s {
				if v, err := s[i].Get(ctx, j, "card"); err != nil || v != fmt.Sprint("card of ", j) {
					t.Errorf("rank %d got %q of rank %d: %v", i, v, j, err)
				}
			}
		})
	}
	for i := range s {
		if err := s[i].Put(ctx, "card", fmt.Sprint("card of ", i)); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

func testFence(t *testing.T, open Open) {
	s, _ := open(t, 3)
	ctx := within(t)
	var mu sync.Mutex
	come := make([]int, 3)
	var wg sync.WaitGroup
	for i := range s {
		wg.Go(func() {
			for round := 1; round <= 50; round++ {
				mu.Lock()
				come[i] = round
				mu.Unlock()
				if err := s[i].Fence(ctx); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for j, c := range come {
					if c < round {
						t.Errorf("rank %d passed fence %d before rank %d came", i, round, j)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func testContext(t *testing.T, open Open) {
	s, _ := open(t, 2)
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s[0].Get(soon, 1, "never"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get: %v", err)
	}
	if err := s[0].Fence(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("fence: %v", err)
	}
}

// news is what one rank hears of another.
type news struct {
	to, of int
	cause  error
}

// That a program has returned is told to the ranks that await it and do not know, also to a rank that listens or asks
// later; and to the last rank.
func testReturned(t *testing.T, open Open) {
	s, _ := open(t, 5)
	heard := make(chan news, 8)
	watch := func(to int) {
		s[to].Watch(func(of int, cause error) { heard <- news{to, of, cause} })
	}
	hear := func(want ...news) {
		t.Helper()
		for range want {
			if got := <-heard; !slices.Contains(want, got) {
				t.Errorf("rank %d heard of rank %d: %v", got.to, got.of, got.cause)
			}
		}
	}
	watch(0)
	watch(1)
	s[1].Await(0)
	s[2].Await(bootstrap.Every)
	if err := s[0].Return([]int{2}); err != nil {
		t.Fatal(err)
	}
	hear(news{1, 0, bootstrap.ErrReturned})
	s[3].Await(0)
	watch(3)
	hear(news{3, 0, bootstrap.ErrReturned})
	if err := s[1].Return([]int{0}); err != nil {
		t.Fatal(err)
	}
	watch(2) // rank 0 tells it itself, when it has taken what rank 0 has sent
	hear(news{2, 1, bootstrap.ErrReturned})
	watch(4)
	for _, rank := range []int{2, 3} {
		if err := s[rank].Return(nil); err != nil {
			t.Fatal(err)
		}
	}
	hear(news{4, 0, bootstrap.ErrReturned}, news{4, 1, bootstrap.ErrReturned}, news{4, 2, bootstrap.ErrReturned},
		news{4, 3, bootstrap.ErrReturned})
}

// Deaths are told to all ranks, also to a rank that listens later, and fences do not wait for the dead.
func testDeaths(t *testing.T, open Open) {
	s, kill := open(t, 4)
	if kill == nil {
		t.Skip("the ranks of this source die together")
	}
	heard := make(chan news, 8)
	s[0].Watch(func(of int, cause error) { heard <- news{0, of, cause} })
	kill(1)
	if got := <-heard; got.of != 1 || got.cause == nil || errors.Is(got.cause, bootstrap.ErrExited) {
		t.Errorf("a rank was killed, and rank 0 heard %+v", got)
	}
	s[3].Close()
	if got := <-heard; got.of != 3 || !errors.Is(got.cause, bootstrap.ErrExited) {
		t.Errorf("rank 3 left, and rank 0 heard %+v", got)
	}
	s[2].Watch(func(of int, cause error) { heard <- news{2, of, cause} })
	first := <-heard
	second := <-heard
	if first.of+second.of != 1+3 || first.of != 1 && first.of != 3 {
		t.Errorf("late, rank 2 heard %+v and %+v, not of ranks 1 and 3", first, second)
	}
	both := make(chan error)
	go func() { both <- s[2].Fence(within(t)) }()
	if err := errors.Join(s[0].Fence(within(t)), <-both); err != nil {
		t.Errorf("a fence with the dead: %v", err)
	}
}

// A rank whose program has failed has not left in good order, and its cause is told as soon as it has left.
func testFailed(t *testing.T, open Open) {
	s, _ := open(t, 2)
	heard := make(chan news, 8)
	s[0].Watch(func(of int, cause error) { heard <- news{0, of, cause} })
	s[1].Fail("the disk is full", -1)
	s[1].Close()
	got := <-heard
	if got.of != 1 || errors.Is(got.cause, bootstrap.ErrExited) || got.cause.Error() != "the disk is full" {
		t.Errorf("rank 1 failed, and rank 0 heard %+v", got)
	}
}
