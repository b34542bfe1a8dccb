package weft

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/waitgraph"
)

// everything calls all that a Proc has, as a program's goroutines do that nobody has told
// that it ends. What is made before the end is used after it.
type everything struct {
	p       *Proc
	port    *Port
	region  *Region
	own     *Remote
	remote  *Remote
	box     *Mailbox
	sender  *Sender
	shared  *Barrier
	barrier *Barrier
	lock    *Lock
	central *Lock
	rw      *RWLock
	sem     *Semaphore
	cond    *Cond
	alloc   []byte
	held    []byte
	draft   Draft
}

func newEverything(ctx context.Context, p *Proc) (e *everything, err error) {
	e = &everything{p: p}
	keep := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	peer := (p.Rank() + 1) % p.Size()
	keep(func() (err error) { e.port, err = p.OpenPort(7, nil); return err })
	keep(func() (err error) { e.region, err = p.OpenRegion(ctx, "r", 5<<16, nil); return err })
	keep(func() (err error) { e.remote, err = p.AttachRegion(ctx, peer, "r"); return err })
	keep(func() (err error) { e.own, err = p.AttachRegion(ctx, p.Rank(), "r"); return err })
	keep(func() (err error) { e.box, err = p.OpenMailbox("m", nil); return err })
	keep(func() (err error) { e.sender, err = p.AttachMailbox(ctx, peer, "m"); return err })
	keep(func() (err error) { e.alloc, err = p.Alloc(1 << 16); return err })
	keep(func() (err error) { e.held, err = p.Alloc(1 << 16); return err })
	keep(func() (err error) { e.draft, err = e.port.Reserve(ctx, peer, 10); return err })
	e.shared = p.Barrier("b", nil)
	e.barrier = p.Barrier("t", &BarrierConfig{Algorithm: "tree"})
	keep(func() error { return e.shared.Wait(ctx) })
	keep(func() error { return e.barrier.Wait(ctx) })
	e.lock = p.Lock("l", nil)
	e.central = p.Lock("c", &LockConfig{Algorithm: "central"})
	e.rw = p.RWLock("rw")
	e.sem = p.Semaphore("s", 1, nil)
	e.cond = p.Cond("o")
	return e, err
}

// calls returns the calls. Each ends by itself within the time that ctx has. They keep to
// memory of their own, and to atomic operations where they do not.
func (e *everything) calls(ctx context.Context) map[string]func() error {
	p, peer := e.p, (e.p.Rank()+1)%e.p.Size()
	short := make([]byte, 100)
	long := make([]byte, 50000)
	word := make([]byte, 8)
	started := func(o *Op, err error) error {
		if err == nil {
			err = o.Wait(ctx)
		}
		return err
	}
	took := func(m Message, err error) error { m.Release(); return err }
	got := func(d Delivery, err error) error { d.Release(); return err }
	held := func(unlock func() error) func(Grant, error) error {
		return func(_ Grant, err error) error {
			if err == nil {
				err = unlock()
			}
			return err
		}
	}
	tried := func(unlock func() error) func(Grant, bool, error) error {
		return func(_ Grant, ok bool, err error) error {
			if err == nil && ok {
				err = unlock()
			}
			return err
		}
	}
	return map[string]func() error{
		"Connect": func() error { _, err := p.Connect(ctx, peer); return err },
		"Open": func() error {
			q, err := p.OpenPort(8, nil)
			if err == nil {
				err = q.Close()
			}
			return err
		},
		"Send":          func() error { return e.port.Send(ctx, peer, short) },
		"Send long":     func() error { return e.port.Send(ctx, peer, long) },
		"Send shared":   func() error { return e.port.Send(ctx, peer, e.alloc) },
		"TrySend":       func() error { return e.port.TrySend(peer, short) },
		"StartSend":     func() error { return started(e.port.StartSend(peer, short)) },
		"Flush":         func() error { return e.port.Flush(ctx) },
		"Recv":          func() error { return took(e.port.Recv(ctx)) },
		"RecvFrom":      func() error { return took(e.port.RecvFrom(ctx, peer)) },
		"TryRecv":       func() error { return took(e.port.TryRecv()) },
		"RecvInto":      func() error { _, _, err := e.port.RecvInto(ctx, long); return err },
		"Reserve":       func() error { d, err := e.port.Reserve(ctx, peer, 100); return errors.Join(err, d.commit(ctx)) },
		"Expose":        func() error { r, err := p.OpenRegion(ctx, "x", 4096, nil); return errors.Join(err, r.close()) },
		"Attach":        func() error { _, err := p.AttachRegion(ctx, peer, "r"); return err },
		"At":            func() error { _, err := e.region.At(ctx, peer); return err },
		"Await":         func() error { _, err := e.region.Await(ctx, 0, 1); return err },
		"Push":          func() error { return e.remote.Push(ctx, 1<<16, long) },
		"Pull":          func() error { return e.remote.Pull(ctx, long, 4<<16) },
		"Put":           func() error { return e.remote.Put(8, word) },
		"FetchAdd":      func() error { _, err := e.remote.FetchAdd(ctx, 0, 1); return err },
		"CompareSwap":   func() error { _, err := e.remote.CompareSwap(ctx, 0, 1, 2); return err },
		"Remote.Flush":  func() error { return e.remote.Flush(ctx) },
		"StartPush":     func() error { return started(e.remote.StartPush(2<<16, long)) },
		"StartPull":     func() error { return started(e.remote.StartPull(long, 4<<16)) },
		"StartFetchAdd": func() error { return started(e.remote.StartFetchAdd(0, 1)) },
		"own Push":      func() error { return e.own.Push(ctx, 3<<16, long) },
		"own FetchAdd":  func() error { _, err := e.own.FetchAdd(ctx, 0, 1); return err },
		"Mailbox": func() error {
			m, err := p.OpenMailbox("y", nil)
			if err == nil {
				err = m.Close()
			}
			return err
		},
		"Next":          func() error { return got(e.box.Next(ctx)) },
		"TryNext":       func() error { return got(e.box.TryNext()) },
		"NewRing":       func() error { _, err := e.box.NewRing(4096); return err },
		"SetRing":       func() error { return e.box.SetRing(peer, 0) },
		"Sender":        func() error { _, err := p.AttachMailbox(ctx, peer, "m"); return err },
		"Sender.Push":   func() error { return e.sender.Push(ctx, short) },
		"Sender.Start":  func() error { return started(e.sender.StartPushTagged(0, short)) },
		"Alloc":         func() error { b, err := p.Alloc(4096); return errors.Join(err, free(p, b)) },
		"shared Wait":   func() error { return e.shared.Wait(ctx) },
		"tree Wait":     func() error { return e.barrier.Wait(ctx) },
		"Barrier":       func() error { return p.Barrier("z", nil).Wait(ctx) },
		"Lock":          func() error { return held(e.lock.Unlock)(e.lock.Lock(ctx)) },
		"TryLock":       func() error { return tried(e.lock.Unlock)(e.lock.TryLock(ctx)) },
		"central Lock":  func() error { return held(e.central.Unlock)(e.central.Lock(ctx)) },
		"RWLock.Lock":   func() error { return held(e.rw.Unlock)(e.rw.Lock(ctx)) },
		"RWLock.RLock":  func() error { return held(e.rw.Unlock)(e.rw.RLock(ctx)) },
		"Unlock":        func() error { return e.lock.Unlock() },
		"Acquire":       func() error { return e.sem.Acquire(ctx, 1) },
		"TryAcquire":    func() error { _, err := e.sem.TryAcquire(ctx, 1); return err },
		"Sem.Release":   func() error { return e.sem.Release(1) },
		"Signal":        func() error { _, err := e.cond.Signal(ctx); return err },
		"new Lock":      func() error { return held(p.Lock("n", nil).Unlock)(p.Lock("n", nil).Lock(ctx)) },
		"new Semaphore": func() error { return p.Semaphore("q", 1, nil).Acquire(ctx, 1) },
		"Sleep":         func() error { return p.Sleep(ctx, time.Millisecond) },
		"look": func() error {
			p.Stats()
			p.Peers()
			p.Now()
			p.report(new(waitgraph.Report))
			return nil
		},
	}
}

func (d *Draft) commit(ctx context.Context) error {
	if d.port == nil {
		return nil
	}
	return d.Commit(ctx)
}

func (r *Region) close() error {
	if r == nil {
		return nil
	}
	return r.Close()
}

func free(p *Proc, b []byte) error {
	if b == nil {
		return nil
	}
	return p.Free(b)
}

// Goroutines that live on use everything while the Proc closes, and afterwards: nothing
// crashes, nothing hangs, and all that is called afterwards returns ErrClosed.
func TestClosing(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		e, err := newEverything(ctx, p)
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		var over atomic.Bool
		for name := range e.calls(ctx) {
			wg.Go(func() {
				for !over.Load() {
					soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
					_ = e.calls(soon)[name]()
					cancel()
					_ = p.Sleep(ctx, 300*time.Microsecond) // or 150 goroutines leave nothing for the rest
				}
			})
		}
		wg.Go(func() { // memory that a program has in hand
			for !over.Load() {
				e.region.Load(32)
				e.region.Store(32, 1)
				e.held[17]++
			}
		})
		p.Sleep(ctx, 10*time.Millisecond)
		var lost *UndeliveredError // they send until the last moment
		if err := p.Close(); err != nil && !errors.As(err, &lost) {
			return err
		}
		p.Sleep(ctx, 10*time.Millisecond)
		over.Store(true)
		wg.Wait()
		for name, call := range e.calls(ctx) {
			if err := call(); !errors.Is(err, ErrClosed) && name != "look" {
				return fmt.Errorf("%s of a closed Proc: %v", name, err)
			}
		}
		if err := e.draft.Commit(ctx); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("Commit of what was reserved before: %v", err)
		}
		return p.Close()
	})
}

// Close ends whatever goroutines wait for: also what only this rank itself could give
// them, which the end of no peer ends.
func TestClosingEndsWaits(t *testing.T) {
	real(t, 1, func(ctx context.Context, p *Proc) error {
		var waits []func() error
		for i := range 3 {
			waits = append(waits, func() error {
				return p.Semaphore(fmt.Sprint("s", i), 0, nil).Acquire(context.Background(), 1)
			})
		}
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		m, err := p.OpenMailbox("m", nil)
		if err != nil {
			return err
		}
		waits = append(waits,
			func() error { _, err := p.AttachRegion(context.Background(), p.Rank(), "nothing"); return err },
			func() error { _, err := q.RecvFrom(context.Background(), p.Rank()); return err },
			func() error { _, err := m.Next(context.Background()); return err })
		errs := make(chan error)
		for _, wait := range waits {
			go func() { errs <- wait() }()
		}
		for len(p.node.Report().Waits) < len(waits) {
			if err := p.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		if err := p.Close(); err != nil {
			return err
		}
		for range waits {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				return fmt.Errorf("a wait ended with %v", err)
			}
		}
		return nil
	})
}
