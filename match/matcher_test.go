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

// A fake is a mailbox that a test fills. It panics if two are in it at once.
type fake struct {
	mu    sync.Mutex
	queue []item
	full  chan struct{}
	busy  atomic.Int32
	freed atomic.Int64
}

type item struct {
	d   Delivery
	err error
}

func newFake() *fake { return &fake{full: make(chan struct{}, 1)} }

func (f *fake) push(i item) {
	f.mu.Lock()
	f.queue = append(f.queue, i)
	f.mu.Unlock()
	select {
	case f.full <- struct{}{}:
	default:
	}
}

func (f *fake) send(from int, tag uint64, data string) {
	f.push(item{d: Delivery{From: from, Tag: tag, Data: []byte(data), released: func() { f.freed.Add(1) }}})
}

// alone panics if somebody else takes messages at the same time.
func (f *fake) alone() (done func()) {
	if !f.busy.CompareAndSwap(0, 1) {
		panic("two take messages at the same time")
	}
	return func() { f.busy.Store(0) }
}

func (f *fake) pop() (i item, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return i, false
	}
	i, f.queue = f.queue[0], f.queue[1:]
	return i, true
}

func (f *fake) Next(ctx context.Context) (Delivery, error) {
	defer f.alone()()
	for {
		if i, ok := f.pop(); ok {
			return i.d, i.err
		}
		select {
		case <-f.full:
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		}
	}
}

func (f *fake) TryNext() (Delivery, bool) {
	defer f.alone()()
	i, ok := f.pop()
	return i.d, ok
}

// rig is a Matcher of four ranks on a fake, and what most tests say.
type rig struct {
	*testing.T
	*fake
	*Matcher
	ctx context.Context
}

func newRig(t *testing.T, cfg *Config) *rig {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	f := newFake()
	return &rig{t, f, newMatcher(4, f, cfg), ctx}
}

func (r *rig) want(want string, d Delivery, err error) {
	r.Helper()
	if err != nil || string(d.Data) != want {
		r.Fatalf("%q, %v; want %q", d.Data, err, want)
	}
	d.Release()
}

// sleeping waits until so many goroutines wait for messages.
func (r *rig) sleeping(n int) {
	r.Helper()
	for {
		r.Matcher.mu.Lock()
		have, driving := len(r.waiting), r.driving
		r.Matcher.mu.Unlock()
		if have == n && (driving || n == 0) {
			return
		}
		if r.ctx.Err() != nil {
			r.Fatalf("%d wait, not %d", have, n)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func TestRecv(t *testing.T) {
	r := newRig(t, nil)
	for i, text := range []string{"a", "b", "c", "d"} {
		r.send(i%2, uint64(i), text)
	}
	d, err := r.Recv(r.ctx, 1, 3, Exact)
	r.want("d", d, err)
	d, err = r.Recv(r.ctx, Any, 0, AnyTag)
	r.want("a", d, err)
	d, err = r.TryRecv(Any, 2, Exact)
	r.want("c", d, err)
	if s := r.Stats(); s.Unexpected.Len != 1 || s.InRing != 1 || r.freed.Load() != 3 {
		t.Errorf("%+v, %d released", s, r.freed.Load())
	}
	if _, err := r.TryRecv(2, 0, AnyTag); err != weft.ErrAgain {
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
	r := newRig(t, nil)
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
	r := newRig(t, nil)
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

// Whoever drives gives up; another that waits must go on in its place.
func TestDriverLeaves(t *testing.T) {
	r := newRig(t, nil)
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
	if _, err := r.TryRecv(Any, 0, AnyTag); err != weft.ErrAgain {
		t.Fatal(err)
	}
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
	r := newRig(t, nil)
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

// The death of a rank ends what waits for it, after its last message; what
// receives from Any hears of it once.
func TestDeath(t *testing.T) {
	r := newRig(t, nil)
	r.send(1, 5, "last")
	r.push(item{err: &weft.PeerError{Rank: 1}})
	r.send(2, 0, "x")
	_, err := r.Recv(r.ctx, 1, 6, Exact)
	var p *weft.PeerError
	if !errors.As(err, &p) || p.Rank != 1 {
		t.Fatal(err)
	}
	d, err := r.Recv(r.ctx, 1, 5, Exact)
	r.want("last", d, err)
	if _, err := r.Probe(r.ctx, 1, 5, Exact); !errors.As(err, &p) {
		t.Fatal(err)
	}
	if _, err := r.Recv(r.ctx, Any, 0, AnyTag); !errors.As(err, &p) {
		t.Fatal(err)
	}
	d, err = r.Recv(r.ctx, Any, 0, AnyTag)
	r.want("x", d, err)

	one, _ := r.Start(2, 0, AnyTag)
	other, _ := r.Start(3, 0, AnyTag)
	first, _ := r.Start(Any, 0, AnyTag)
	second, _ := r.Start(Any, 0, AnyTag)
	r.push(item{err: &weft.PeerError{Rank: 2}})
	r.send(3, 0, "y")
	r.send(3, 0, "z")
	d, err = second.Wait(r.ctx)
	r.want("z", d, err)
	for _, w := range []*Receive{one, first} {
		if _, err := w.Wait(r.ctx); !errors.As(err, &p) || p.Rank != 2 {
			t.Fatal(err)
		}
	}
	d, err = other.Wait(r.ctx)
	r.want("y", d, err)
	if _, err := r.TryRecv(Any, 0, AnyTag); err != weft.ErrAgain {
		t.Fatal(err)
	}
	r.push(item{err: weft.ErrClosed})
	if _, err := r.Recv(r.ctx, 0, 0, 0); err != weft.ErrClosed {
		t.Fatal(err)
	}
}

// Messages beyond what may stay are copied, with the older ones of their sender,
// and each once.
func TestInRing(t *testing.T) {
	for _, c := range []struct {
		inRing, copied, left int
	}{{0, 0, 60}, {100, 0, 60}, {60, 0, 60}, {59, 6, 0}, {25, 6, 0}, {35, 4, 20}, {-1, 6, 0}} {
		r := newRig(t, &Config{InRing: c.inRing})
		for i := range 6 {
			r.send(1, uint64(i), strings.Repeat(fmt.Sprint(i), 10))
		}
		if _, err := r.TryRecv(2, 0, 0); err != weft.ErrAgain {
			t.Fatal(err)
		}
		s := r.Stats()
		if s.Copied != uint64(c.copied) || s.InRing != c.left || r.freed.Load() != int64(c.copied) {
			t.Errorf("%+v: %+v, %d released", c, s, r.freed.Load())
		}
		for i := range 6 {
			d, err := r.Recv(r.ctx, 1, uint64(5-i), Exact)
			r.want(strings.Repeat(fmt.Sprint(5-i), 10), d, err)
		}
		if s := r.Stats(); s.InRing != 0 || r.held[1] != 0 || r.freed.Load() != 6 {
			t.Errorf("%+v: %+v, %d released", c, s, r.freed.Load())
		}
	}
}

// Many goroutines receive, some give up: every message comes out once, and those
// of a sender with one tag in order.
func TestManyGoroutines(t *testing.T) {
	const each = 300
	for _, cfg := range []*Config{nil, {InRing: 16}} {
		r := newRig(t, cfg)
		var wg sync.WaitGroup
		var got atomic.Int64
		for from := range 4 {
			for tag := range 2 {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(from), uint64(tag)))
					for n := 0; n < each; {
						ctx, cancel := r.ctx, func() {}
						if rnd.IntN(3) == 0 {
							ctx, cancel = context.WithTimeout(r.ctx, time.Duration(rnd.IntN(200))*time.Microsecond)
						}
						d, err := r.Recv(ctx, from, uint64(tag), Exact)
						cancel()
						if err != nil && ctx != r.ctx && errors.Is(err, context.DeadlineExceeded) {
							continue
						}
						if want := fmt.Sprintf("%d of %d from %d", n, tag, from); err != nil || string(d.Data) != want {
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
						r.send(from, uint64(tag), fmt.Sprintf("%d of %d from %d", n, tag, from))
					}
				}
			})
		}
		wg.Wait()
		s := r.Stats()
		if got.Load() != 8*each || r.freed.Load() != 8*each || s.Posted.Len+s.Unexpected.Len+s.InRing+len(r.waiting) != 0 {
			t.Errorf("%d received, %d released, %+v", got.Load(), r.freed.Load(), s)
		}
	}
}

// endless is a mailbox that always has a message, of one rank after the other.
type endless struct{ n int }

func (e *endless) Next(context.Context) (Delivery, error) {
	e.n++
	return Delivery{From: e.n % 4, Tag: uint64(e.n % 8)}, nil
}

func (e *endless) TryNext() (Delivery, bool) { d, _ := e.Next(context.Background()); return d, true }

func TestMatcherDoesNotAllocate(t *testing.T) {
	ctx := context.Background()
	m := newMatcher(4, &endless{}, nil)
	round := func() {
		r, err := m.Start(2, 2, Exact)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		for tag := range 6 {
			if _, err := m.Probe(ctx, Any, uint64(tag), 7); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Recv(ctx, Any, uint64(tag), 7); err != nil {
				t.Fatal(err)
			}
		}
		for m.Stats().Unexpected.Len > 4 {
			if _, err := m.TryRecv(Any, 0, AnyTag); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
