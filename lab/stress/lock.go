package stress

import (
	"context"
	"errors"
	"fmt"

	"weft"
)

// lock: members take locks of every kind, and look in a region of one of them whether
// they are alone: word 0 is 1 while somebody is inside.
func lock(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	home := s.members[0]
	kind := s.shared.IntN(7)
	name := "lock " + s.name
	guarded := kind < 3 && s.shared.IntN(2) == 0
	count := s.scaled(5 + s.shared.IntN(40))
	var region *weft.Region
	var cfg *weft.RegionConfig
	if guarded {
		cfg = &weft.RegionConfig{Lock: name}
	}
	if a.p.Rank() == home {
		expose := func() (err error) { region, err = a.p.OpenRegion(a.ctx, name, 64, cfg); return err }
		if a.call("Expose", expose) == gone { // with the lock's home
			cfg = nil
			a.call("Expose", expose) // the others attach to it
		}
	}
	var far *weft.Remote
	if a.call("Attach", func() (err error) { far, err = a.p.AttachRegion(a.ctx, home, name); return err }) == fine {
		h := holder{s: s, name: name, far: far, guarded: guarded}
		group := crew{p: a.p}
		takers := 1 + s.shared.IntN(2)
		if kind == condition {
			takers = 1 // Wait takes the lock again, which is the rank's, not the goroutine's
		}
		for i := range takers {
			s.act2(&group, fmt.Sprintf("taker %d", i), func(a *actor) {
				for range count {
					if h := h; !h.take(a, kind) || a.quit {
						return
					}
				}
			})
		}
		a.do("wait for the own takers", func() error { group.Wait(); return nil })
	}
	a.meet(s, "all have had the lock")
	if region != nil {
		a.call("Region.Close", region.Close)
	}
}

// condition is the kind of scene with a Cond, the last.
const condition = 6

// A holder takes a lock again and again, and checks that it is alone: with the lock it swaps a word in a region.
type holder struct {
	s       *scene
	name    string
	far     *weft.Remote
	guarded bool
	grant   weft.Grant
}

// take takes the lock once, and reports whether to go on.
func (h *holder) take(a *actor, kind int) bool {
	switch kind {
	case 0, 1, 2:
		cfg := []*weft.LockConfig{nil, {Fair: true}, {Algorithm: "central"}}[kind]
		l := a.p.Lock(h.name, cfg)
		return h.mutual(a, l.Lock, l.TryLock, l.Unlock)
	case 3:
		l := a.p.RWLock(h.name)
		if a.rng.IntN(2) == 0 {
			return h.mutual(a, l.Lock, l.TryLock, l.Unlock)
		}
		return h.read(a, l)
	case 4, 5:
		return h.permits(a)
	default:
		return h.await(a)
	}
}

type taking = func(ctx context.Context) (weft.Grant, error)

// get takes a lock in one of the ways that there are.
func (h *holder) get(a *actor, take taking, try func(ctx context.Context) (weft.Grant, bool, error)) (held, goOn bool) {
	ok := true
	ctx := a.ctx
	cancel := context.CancelFunc(func() {})
	way := a.rng.IntN(3)
	if way == 1 {
		ctx, cancel = a.brief(a.ctx)
	}
	defer cancel()
	err := a.do([]string{"Lock", "Lock with a context that ends", "TryLock"}[way], func() (err error) {
		if way == 2 {
			h.grant, ok, err = try(ctx)
		} else {
			h.grant, err = take(ctx)
		}
		return err
	})
	if errors.Is(err, weft.ErrHeld) { // another goroutine of this rank has it
		a.progress.Add(1)
		a.pause()
		return false, true
	}
	switch a.judge("Lock", err, way == 1) {
	case fine:
		return ok, true
	case later:
		return false, true
	default:
		return false, false
	}
}

// mutual takes the lock, makes sure that no other holder is inside, and releases it. It returns false if this rank
// is to stop taking the lock.
func (h *holder) mutual(a *actor, take taking, try func(ctx context.Context) (weft.Grant, bool, error),
	unlock func() error) bool {
	held, ok := h.get(a, take, try)
	if !held {
		return ok
	}
	far := h.far
	if h.guarded {
		far = far.Under(h.grant)
	}
	inside := func(to, want uint64) {
		var was uint64
		v := a.call("Swap inside", func() (err error) { was, err = far.Swap(a.ctx, 0, to); return err })
		if v == fine && was != want && !(h.grant.HolderDied && to == 1) {
			a.found("%s: not alone with the lock: %d where %d should be", a.name, was, want)
		}
		ok = ok && v == fine
	}
	inside(1, 0)
	if a.rng.IntN(3) == 0 {
		a.pause()
	}
	if ok {
		inside(0, 1)
	}
	if !ok && (a.leaving.Load() || a.ctx.Err() != nil) {
		return false // the word says that somebody is inside: the next holder must hear that the holder has gone
	}
	return a.call("Unlock", unlock) == fine && ok
}

// read holds the lock together with other readers: no writer is inside.
func (h *holder) read(a *actor, l *weft.RWLock) bool {
	held, ok := h.get(a, l.RLock, l.TryRLock)
	if !held {
		return ok
	}
	var is uint64
	v := a.call("FetchAdd inside", func() (err error) { is, err = h.far.FetchAdd(a.ctx, 0, 0); return err })
	if v == fine && is != 0 && !h.grant.HolderDied {
		a.found("%s: a writer is inside with a reader", a.name)
	}
	return a.call("Unlock", l.Unlock) == fine && v == fine
}

// permits takes permits of a semaphore: no more are taken than there are.
func (h *holder) permits(a *actor) bool {
	const permits = 3
	sem := a.p.Semaphore(h.name, permits, &weft.SemaphoreConfig{Undo: true})
	n := 1 + a.rng.IntN(permits)
	held, ok := h.get(a,
		func(ctx context.Context) (weft.Grant, error) { return weft.Grant{}, sem.Acquire(ctx, n) },
		func(ctx context.Context) (weft.Grant, bool, error) {
			ok, err := sem.TryAcquire(ctx, n)
			return weft.Grant{}, ok, err
		})
	if !held {
		return ok
	}
	var before uint64
	v := a.call("FetchAdd inside", func() (err error) { before, err = h.far.FetchAdd(a.ctx, 0, uint64(n)); return err })
	if v == fine && before+uint64(n) > permits {
		a.tell(note{Kind: noteError, Rank: a.p.Rank(),
			Text: fmt.Sprintf("%s: %d permits are taken of %d", a.name, before+uint64(n), permits)})
	}
	if v == fine {
		v = a.call("FetchAdd inside", func() error { _, err := h.far.FetchAdd(a.ctx, 0, -uint64(n)); return err })
	}
	return a.call("Release", func() error { return sem.Release(n) }) == fine && v == fine
}

// await waits for a condition for a short time, or wakes the others.
func (h *holder) await(a *actor) bool {
	l := a.p.Lock(h.name, nil)
	c := a.p.Cond("of " + h.name)
	held, ok := h.get(a, l.Lock, l.TryLock)
	if !held {
		return ok
	}
	switch a.rng.IntN(3) {
	case 0:
		ctx, cancel := a.brief(a.ctx)
		err := a.do("Cond.Wait with a context that ends", func() error { _, err := c.Wait(ctx, l); return err })
		cancel()
		if v := a.judge("Cond.Wait", err, true); v != fine && v != later {
			_ = l.Unlock() // perhaps it is lost
			return false
		}
	case 1:
		ok = a.call("Cond.Signal", func() error { _, err := c.Signal(a.ctx); return err }) == fine
	default:
		ok = a.call("Cond.Broadcast", func() error { _, err := c.Broadcast(a.ctx); return err }) == fine
	}
	return a.call("Unlock", l.Unlock) == fine && ok
}
