package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/waittest"
)

// mapsOf returns how many pieces of memory this process has, and how many of them, and
// of its descriptors, are memory that ranks share.
func mapsOf(t testing.TB) (all, shared, descriptors int) {
	t.Helper()
	const name = "/memfd:weft-region"
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(to, name) {
			descriptors++
		}
	}
	return strings.Count(string(text), "\n"), strings.Count(string(text), name), descriptors
}

// TestMemoryIsGivenBack: of regions, mailboxes and Alloc memory that have been used and
// closed nothing is left, at the owner and at the ranks that had it mapped.
func TestMemoryIsGivenBack(t *testing.T) {
	const (
		rounds = 30
		size   = 1 << 20
	)
	_, shared, descriptors := mapsOf(t)
	procs := joinAll(t, 2, &Config{Transport: "shm"})
	var before [2]Stats
	for i, p := range procs {
		before[i] = p.Stats()
	}
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		data := make([]byte, size)
		for i := range rounds {
			if err := use(ctx, p, q, fmt.Sprint(i), data); err != nil {
				return err
			}
		}
		return q.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "no region is mapped any more", func() bool {
		_, s, d := mapsOf(t)
		return s <= shared && d <= descriptors // less, if an earlier test was still letting go
	})
	for i, p := range procs {
		const peers = 64 << 10 // which have been met meanwhile
		var s Stats
		if !waittest.Poll(func() bool { // the owner's word may come after its memory has gone
			s = p.Stats()
			return s.MemoryBytes <= before[i].MemoryBytes+peers && s.MappedBytes == 0
		}) {
			t.Errorf("rank %d says that it holds %d bytes, not %d as before, and has %d mapped", i, s.MemoryBytes,
				before[i].MemoryBytes, s.MappedBytes)
		}
	}
}

// use uses a region, a mailbox and Alloc memory of the other rank, and closes its own.
func use(ctx context.Context, p *Proc, q *Port, name string, data []byte) error {
	other := 1 - p.Rank()
	w, err := p.OpenRegion(ctx, name, len(data), nil)
	if err != nil {
		return err
	}
	m, err := p.OpenMailbox(name, nil)
	if err != nil {
		return err
	}
	a, err := p.Alloc(len(data))
	if err != nil {
		return err
	}
	r, err := w.At(ctx, other)
	if err != nil {
		return err
	}
	s, err := p.AttachMailbox(ctx, other, name)
	if err != nil {
		return err
	}
	if !r.Direct() || !s.Direct() {
		return errors.New("the region or the mailbox is not mapped")
	}
	if st := p.Stats(); st.MappedBytes < uint64(len(data)) || st.MemoryBytes < uint64(2*len(data)) {
		return fmt.Errorf("%d bytes are mapped, %d held: that cannot be", st.MappedBytes, st.MemoryBytes)
	}
	if err := r.Push(ctx, 0, data); err != nil {
		return err
	}
	if err := s.Push(ctx, data[:1000]); err != nil {
		return err
	}
	op, err := q.StartSend(other, a)
	if err != nil {
		return err
	}
	if _, err := q.RecvIntoFrom(ctx, other, data); err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	if err := meet(ctx, p, q); err != nil {
		return err
	}
	return errors.Join(w.Close(), m.Close(), p.Free(a))
}

// TestManySmallRegions: the number of regions that a process exposes and closes, one
// after another, is not bounded by that of the mappings that it can have.
func TestManySmallRegions(t *testing.T) {
	const rounds = 500
	procs := joinAll(t, 2, &Config{Transport: "shm"})
	runtime.GC()
	all, _, _ := mapsOf(t)
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		for i := range rounds {
			name := fmt.Sprint(i)
			w, err := p.OpenRegion(ctx, name, 8, nil)
			if err != nil {
				return err
			}
			m, err := p.OpenMailbox(name, &MailboxConfig{Records: 16, Rings: []int{64}})
			if err != nil {
				return err
			}
			if r, err := p.AttachRegion(ctx, 1-p.Rank(), name); err != nil {
				return err
			} else if _, err := r.FetchAdd(ctx, 0, 1); err != nil && !errors.Is(err, ErrClosed) {
				return err
			}
			if s, err := p.AttachMailbox(ctx, 1-p.Rank(), name); err != nil {
				return err
			} else if err := s.Push(ctx, nil); err != nil && !errors.Is(err, ErrClosed) {
				return err
			}
			if err := p.Barrier("used", nil).Wait(ctx); err != nil {
				return err
			}
			if err := errors.Join(w.Close(), m.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "no mapping is left", func() bool {
		runtime.GC()
		now, _, _ := mapsOf(t)
		return now < all+rounds/10
	})
}

// TestMoreRegionsThanMappings: a process can expose more regions than may be mapped.
// Those beyond are reached by packets.
func TestMoreRegionsThanMappings(t *testing.T) {
	const regions = 8192 + 64
	procs := joinAll(t, 2, &Config{Transport: "shm"})
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			for i := range regions {
				if _, err := p.OpenRegion(ctx, fmt.Sprint(i), 64, nil); err != nil {
					return fmt.Errorf("region %d: %w", i, err)
				}
			}
			return p.Barrier("used", &BarrierConfig{Algorithm: "dissemination"}).Wait(ctx)
		}
		for _, i := range []int{0, regions - 1} {
			r, err := p.AttachRegion(ctx, 0, fmt.Sprint(i))
			if err != nil {
				return err
			}
			if r.Direct() != (i == 0) {
				return fmt.Errorf("region %d: direct is %v", i, r.Direct())
			}
			if err := r.Push(ctx, 8, make([]byte, 50)); err != nil {
				return err
			}
		}
		return p.Barrier("used", &BarrierConfig{Algorithm: "dissemination"}).Wait(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOwnRegionAfterClose: a Remote of one's own region that is closed.
func TestOwnRegionAfterClose(t *testing.T) {
	real(t, 1, func(ctx context.Context, p *Proc) error {
		w, err := p.OpenRegion(ctx, "mine", 1<<16, nil)
		if err != nil {
			return err
		}
		r, err := p.AttachRegion(ctx, 0, "mine")
		if err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		_, e1 := r.FetchAdd(ctx, 0, 1)
		for _, err := range []error{e1, r.Push(ctx, 0, make([]byte, 8)), r.Pull(ctx, make([]byte, 8), 0)} {
			if !errors.Is(err, ErrClosed) {
				return fmt.Errorf("after Close: %v", err)
			}
		}
		if _, err := w.Await(ctx, 0, 0); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("Await after Close: %v", err)
		}
		return nil
	})
}

// TestOwnRegion: operations on a region of one's own need no packets, and those of
// others, which do, do not come between the halves of an atomic one.
func TestOwnRegion(t *testing.T) {
	const each = 3000
	real(t, 2, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 64, nil)
		if err != nil {
			return err
		}
		r, err := p.AttachRegion(ctx, 0, "window")
		if err != nil {
			return err
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		for range each {
			if _, err := r.FetchAdd(ctx, 8, 1); err != nil {
				return err
			}
		}
		if err := meet(ctx, p, q); err != nil || p.Rank() != 0 {
			return err
		}
		if n := w.Load(8); n != 2*each {
			return fmt.Errorf("counted %d, not %d", n, 2*each)
		}
		before := p.Stats().PacketsSent
		for range each {
			if err := r.Put(0, []byte("12345678")); err != nil {
				return err
			}
			if _, err := r.FetchAdd(ctx, 8, 1); err != nil {
				return err
			}
		}
		if n := p.Stats().PacketsSent - before; !r.Direct() || n >= each {
			return fmt.Errorf("%d packets were sent", n)
		}
		return nil
	})
}

// TestCloseUnderWay: regions and mailboxes are closed while goroutines of both ranks use
// them. Each call succeeds or says that it is closed.
func TestCloseUnderWay(t *testing.T) {
	const (
		rounds = 60
		size   = 1 << 18
	)
	real(t, 2, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			return openAndClose(ctx, p, rounds, size)
		}
		var wg sync.WaitGroup
		var over atomic.Bool
		done, cancel := context.WithCancel(ctx)
		defer cancel()
		failed := make(chan error, 8)
		each := func(do func() error) {
			wg.Go(func() {
				for !over.Load() {
					if err := do(); err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeer) && done.Err() == nil {
						failed <- err
						return
					}
				}
			})
		}
		buf := make([]byte, size)
		each(func() error {
			return useUntilClosed(done, p, func(r *Remote) error { return r.Push(done, size/2, buf[size/2:]) })
		})
		each(func() error {
			into := make([]byte, size/2-64)
			return useUntilClosed(done, p, func(r *Remote) error { return r.Pull(done, into, 64) })
		})
		each(func() error {
			return useUntilClosed(done, p, func(r *Remote) error { _, err := r.FetchAdd(done, 0, 1); return err })
		})
		each(func() error {
			s, err := p.AttachMailbox(done, 0, "mailbox")
			for err == nil {
				soon, cancel := context.WithTimeout(done, time.Millisecond)
				if err = s.Push(soon, buf[:5000]); errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				cancel()
			}
			return err
		})
		_, err := p.AttachRegion(ctx, 0, "over")
		over.Store(true)
		cancel()
		wg.Wait()
		close(failed)
		return errors.Join(err, <-failed)
	})
}

// openAndClose opens a region and a mailbox, and closes both when they are in use, in so many rounds.
func openAndClose(ctx context.Context, p *Proc, rounds, size int) error {
	for i := range rounds {
		w, err := p.OpenRegion(ctx, "region", size, nil)
		if err != nil {
			return err
		}
		m, err := p.OpenMailbox("mailbox", nil)
		if err != nil {
			return err
		}
		go w.Await(ctx, 8, 0)
		go m.Next(ctx)
		if _, err := w.Await(ctx, 0, 0); err != nil { // it is in use
			return err
		}
		if err := errors.Join(w.Close(), m.Close()); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	_, err := p.OpenRegion(ctx, "over", 8, nil)
	return err
}

// useUntilClosed attaches to the region of rank 0, and uses it until it is closed.
func useUntilClosed(ctx context.Context, p *Proc, f func(r *Remote) error) error {
	r, err := p.AttachRegion(ctx, 0, "region")
	for err == nil {
		err = f(r)
	}
	return err
}
