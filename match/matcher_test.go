package match

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weft"
)

func TestRecv(t *testing.T) {
	r := newRig(t, nil, nil)
	for i, text := range []string{"a", "b", "c", "d"} {
		r.send(i%2, uint64(i), text)
	}
	d, err := r.Recv(r.ctx, 1, 3, Exact)
	r.want("d", d, err)
	d, err = r.Recv(r.ctx, Any, 0, AnyTag)
	r.want("a", d, err)
	d, err = r.TryRecv(Any, 2, Exact)
	r.want("c", d, err)
	if s := r.Stats(); s.Unexpected.Len != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := r.TryRecv(2, 0, AnyTag); err != weft.ErrWouldBlock {
		t.Error(err)
	}
	d, err = r.TryRecv(1, 0, AnyTag)
	r.want("b", d, err)
	if s := r.Stats(); s.Unexpected.Len != 0 || s.Posted.Len != 0 || s.InRing != 0 {
		t.Errorf("%+v", s)
	}
	var e *weft.RankError
	if _, err := r.Recv(r.ctx, 4, 0, 0); !errors.As(err, &e) || e.Rank != 4 {
		t.Error(err)
	}
	if _, err := r.Start(-7, 0, 0); !errors.Is(err, weft.ErrRank) {
		t.Error(err)
	}
}

func TestStart(t *testing.T) {
	r := newRig(t, nil, nil)
	first, err := r.Start(Any, 7, Exact)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Start(1, 7, Exact)
	if err != nil {
		t.Fatal(err)
	}
	if first.Done() || second.Done() {
		t.Fatal("done before anything has come")
	}
	r.send(1, 7, "a")
	r.send(1, 7, "b")
	if !second.Done() || !first.Done() {
		t.Fatal("not done")
	}
	d, err := second.Wait(r.ctx)
	r.want("b", d, err)
	d, err = first.Wait(r.ctx)
	r.want("a", d, err)
}

// A receive given up is no longer posted, and what had come by then is not lost.
func TestGivenUp(t *testing.T) {
	r := newRig(t, nil, nil)
	r.send(1, 8, "other")
	over, cancel := context.WithCancel(r.ctx)
	cancel()
	_, err := r.Recv(over, 1, 7, Exact)
	var w *weft.WaitError
	if !errors.As(err, &w) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "rank 1, tag 0x7") ||
		!strings.Contains(err.Error(), "other tags: 1") {
		t.Error(err)
	}
	if s := r.Stats(); s.Posted.Len != 0 || s.Unexpected.Len != 1 {
		t.Errorf("%+v", s)
	}
	d, err := r.Recv(over, 1, 8, Exact)
	r.want("other", d, err)

	started, err := r.Start(2, 0, AnyTag)
	if err != nil {
		t.Fatal(err)
	}
	r.send(2, 0, "a")
	r.send(2, 0, "b")
	if !started.Done() {
		t.Fatal("not done")
	}
	d, err = started.Wait(over)
	r.want("a", d, err)
	d, err = r.Recv(over, 2, 0, AnyTag)
	r.want("b", d, err)
}

// The goroutine that drives gives up; another that waits must go on in its place.
func TestDriverLeaves(t *testing.T) {
	r := newRig(t, nil, nil)
	over, cancel := context.WithCancel(r.ctx)
	left := make(chan error)
	go func() {
		_, err := r.Recv(over, 1, 0, AnyTag)
		left <- err
	}()
	r.sleeping(1)
	done := make(chan error)
	for from := 2; from < 4; from++ {
		go func() {
			d, err := r.Recv(r.ctx, from, 0, AnyTag)
			if err == nil && d.From != from {
				err = fmt.Errorf("from %d", d.From)
			}
			done <- err
		}()
	}
	r.sleeping(3)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.send(3, 0, "x")
	r.send(2, 0, "x")
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func TestProbe(t *testing.T) {
	r := newRig(t, nil, nil)
	found := make(chan Envelope)
	go func() {
		e, err := r.Probe(r.ctx, Any, 9, Exact)
		if err != nil {
			t.Error(err)
		}
		found <- e
	}()
	r.sleeping(1)
	r.send(0, 1, "no")
	r.send(3, 9, "yes")
	if e := <-found; e != (Envelope{3, 9, 3}) {
		t.Fatal(e)
	}
	if e, err := r.Probe(r.ctx, 0, 0, AnyTag); err != nil || e != (Envelope{0, 1, 2}) {
		t.Fatal(e, err)
	}
	over, cancel := context.WithCancel(r.ctx)
	cancel()
	if _, err := r.Probe(over, 2, 0, AnyTag); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	d, err := r.Recv(r.ctx, 3, 9, Exact)
	r.want("yes", d, err)
	if len(r.probes) > 0 || len(r.waiting) > 0 {
		t.Error(r.probes, r.waiting)
	}
}

// While somebody else takes messages from the mailbox, a poll must not: it could
// take a later one and match it first.
func TestPollLeavesItToTheDriver(t *testing.T) {
	r := newRig(t, nil, nil)
	r.Matcher.mu.Lock()
	r.driving = true
	r.Matcher.mu.Unlock()
	r.send(1, 0, "x")
	if _, err := r.TryRecv(Any, 0, AnyTag); err != weft.ErrWouldBlock {
		t.Fatal(err)
	}
	r.Matcher.mu.Lock()
	r.driving = false
	r.Matcher.mu.Unlock()
	d, err := r.TryRecv(Any, 0, AnyTag)
	r.want("x", d, err)
}

// Many goroutines receive, some give up: every message comes out once, and those
// of a sender with one tag in order.
func TestManyGoroutines(t *testing.T) {
	const each = 300
	for _, cfg := range []*Config{nil, {Copy: true}} {
		r := newRig(t, cfg, nil)
		var wg sync.WaitGroup
		var got atomic.Int64
		for from := range 4 {
			for tag := range 2 {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(from), uint64(tag)))
					for n := 0; n < each; {
						ctx := r.ctx
						cancel := func() {}
						if rnd.IntN(3) == 0 {
							ctx, cancel = context.WithTimeout(r.ctx, time.Duration(rnd.IntN(200))*time.Microsecond)
						}
						d, err := r.Recv(ctx, from, uint64(tag), Exact)
						cancel()
						if err != nil && ctx != r.ctx && errors.Is(err, context.DeadlineExceeded) {
							continue
						}
						if want := strings.Repeat(fmt.Sprintf("%d of %d from %d;", n, tag, from), n%8); err != nil ||
							string(d.Data) != want {
							t.Errorf("%q, %v; want %q", d.Data, err, want)
							return
						}
						d.Release()
						got.Add(1)
						n++
					}
				})
			}
			wg.Go(func() {
				for n := range each {
					for tag := range 2 {
						r.send(from, uint64(tag), strings.Repeat(fmt.Sprintf("%d of %d from %d;", n, tag, from), n%8))
					}
				}
			})
		}
		wg.Wait()
		s := r.Stats()
		if got.Load() != 8*each || s.Posted.Len+s.Unexpected.Len+s.InRing+len(r.waiting) != 0 {
			t.Errorf("%d received, %+v", got.Load(), s)
		}
	}
}

func TestMatcherDoesNotAllocate(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, nil, nil)
	long := make([]byte, 100)
	round := func() {
		started, err := r.Start(2, 2, Exact)
		if err != nil {
			t.Fatal(err)
		}
		for tag := range uint64(6) {
			for from, s := range r.senders {
				if err := s.PushTagged(ctx, tag, long[:30*from]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d, err := started.Wait(ctx); err != nil {
			t.Fatal(err)
		} else {
			d.Release()
		}
		for i := range 24 {
			from := i % 4
			tag := uint64(5 - i/4)
			if from == 2 && tag == 2 {
				continue // started
			}
			if _, err := r.Probe(ctx, Any, tag, Exact); err != nil {
				t.Fatal(err)
			}
			d, err := r.TryRecv(from, tag, Exact)
			if err != nil {
				t.Fatal(err)
			}
			d.Release()
		}
	}
	for range 300 {
		round()
	}
	// Others of the runtime may allocate meanwhile, so the least counts.
	least := 1.0
	for try := 0; try < 3 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(100, round))
	}
	if least > 0 {
		t.Errorf("%v allocations", least)
	}
}

func BenchmarkRecv(b *testing.B) {
	r := newRig(b, nil, nil)
	text := make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.senders[1].PushTagged(r.ctx, 7, text); err != nil {
			b.Fatal(err)
		}
		d, err := r.Recv(r.ctx, 1, 7, Exact)
		if err != nil {
			b.Fatal(err)
		}
		d.Release()
	}
}
