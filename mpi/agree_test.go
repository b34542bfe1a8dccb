package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"weft"
)

// TestAgree: members agree again and again, by one goroutine and by several, also when the group is revoked.
func TestAgree(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		h, err := g.Dup(ctx)
		if err != nil {
			return err
		}
		for k := range 5 {
			a, err := h.Agree(ctx, ^uint64(1<<(h.Rank()+k)))
			if err != nil || a.Flags != ^(uint64(1<<h.Size()-1)<<k) || a.Dead != nil {
				return fmt.Errorf("agreement %d: %x, %v", k, a, err)
			}
		}
		h.Revoke(errors.New("a test says so"))
		const callers = 3
		var got [callers]Agreement
		var errs [callers]error
		var tasks []*weft.Task
		for k := range callers {
			tasks = append(tasks, g.Proc().Go(func() { got[k], errs[k] = h.Agree(ctx, uint64(h.Rank()+1)|1<<20) }))
		}
		for k, task := range tasks {
			if err := errors.Join(task.Wait(ctx), errs[k]); err != nil || got[k].Flags&(1<<20) == 0 || got[k].Dead != nil {
				return fmt.Errorf("goroutine %d: %x, %v", k, got[k], err)
			}
		}
		if err := h.Barrier(ctx); !errors.Is(err, weft.ErrRevoked) && h.Size() > 1 {
			return fmt.Errorf("an operation of the group that is revoked: %v", err)
		}
		return nil
	})
}

// TestShrink: groups are shrunk though all live, and operate.
func TestShrink(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		h, err := g.Dup(ctx)
		if err != nil {
			return err
		}
		for k := 1; k < 4; k++ {
			old := h
			if h, err = h.Shrink(ctx); err != nil {
				return err
			}
			if err := old.Barrier(ctx); !errors.Is(err, weft.ErrRevoked) && g.Size() > 1 {
				return fmt.Errorf("an operation of the old group: %v", err)
			}
			if h.Generation() != k || h.Compare(g) != Congruent {
				return fmt.Errorf("generation %d, %v", h.Generation(), h.Group().Ranks())
			}
			s := []int{1}
			if err := AllReduce(ctx, h, s, Sum); err != nil || s[0] != h.Size() {
				return fmt.Errorf("generation %d: %v, %v", k, s, err)
			}
			if err := g.Barrier(ctx); err != nil { // all are through before the first one shrinks again
				return err
			}
		}
		return h.Free(ctx)
	})
}

// TestAgreeOnDifferentThings: members that call Agree and Shrink are all told, and no communicator comes of it.
func TestAgreeOnDifferentThings(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		if g.Size() == 1 {
			return nil
		}
		h, err := g.Dup(ctx)
		if err != nil {
			return err
		}
		if h.Rank() == 0 {
			_, err = h.Agree(ctx, 1)
		} else {
			_, err = h.Shrink(ctx)
		}
		if !errors.Is(err, ErrMismatch) {
			return fmt.Errorf("Agree and Shrink: %v", err)
		}
		next, err := h.Shrink(ctx)
		if err != nil {
			return err
		}
		return next.Free(ctx)
	})
}

// TestAgreeEnds: what ends an agreement that cannot be: contexts, a Proc that closes.
func TestAgreeEnds(t *testing.T) {
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		if err := agreeAfterContext(ctx, p); err != nil {
			return err
		}
		last, err := World(p).Dup(ctx)
		if err != nil {
			return err
		}
		lone, err := World(p).Dup(ctx)
		if err != nil {
			return err
		}
		if err := lone.Barrier(ctx); err != nil {
			return err
		}
		if p.Rank() == 1 {
			return nil
		}
		return agreeWithoutOther(ctx, p, last, lone)
	})
	if err != nil {
		t.Error(err)
	}
}

// agreeAfterContext: the context of one member ends while it waits for the other. The call that it gave up
// counts in the next agreement.
func agreeAfterContext(ctx context.Context, p *weft.Proc) error {
	g := World(p)
	if p.Rank() == 0 {
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		var wait *weft.WaitError
		if _, err := g.Agree(short, 6); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &wait) ||
			wait.Knows == "" {
			return fmt.Errorf("alone: %v", err)
		}
	}
	if err := p.Barrier("one has called", nil).Wait(ctx); err != nil {
		return err
	}
	if p.Rank() == 1 {
		a, err := g.Agree(ctx, 5)
		if err != nil || a.Flags != 4 {
			return fmt.Errorf("with the member that has given up: %x, %v", a.Flags, err)
		}
	}
	flags := []uint64{7, 3}
	a, err := g.Agree(ctx, flags[p.Rank()])
	if err != nil || a.Flags != 3 {
		return fmt.Errorf("afterwards: %x, %v", a.Flags, err)
	}
	return nil
}

// agreeWithoutOther: the other member has returned, or is about to. Agreements go on without it, until Close.
func agreeWithoutOther(ctx context.Context, p *weft.Proc, last, lone *Comm) error {
	if a, err := last.Agree(ctx, 9); err != nil || a.Flags != 9 || !slices.Equal(a.Dead, []int{1}) {
		return fmt.Errorf("when the other has returned: %+v, %v", a, err)
	}
	if _, err := last.Shrink(ctx); err != nil {
		return err
	}
	late := make(chan error)
	go func() {
		_, err := lone.Agree(ctx, 0) // a member of it has left: it may be over before Close
		late <- err
	}()
	if err := p.Close(); err != nil {
		return err
	}
	if err := <-late; err != nil && !errors.Is(err, weft.ErrClosed) {
		return fmt.Errorf("while Close: %v", err)
	}
	for _, g := range []*Comm{lone, last} {
		if _, err := g.Agree(ctx, 0); !errors.Is(err, weft.ErrClosed) {
			return fmt.Errorf("after Close: %v", err)
		}
	}
	return nil
}

// TestOutcast: a rank that stands still for longer than the liveness time is excluded by the
// others, and either hears that,
// or takes all others for dead.
func TestOutcast(t *testing.T) {
	heard := 0
	for seed := range uint64(20) {
		c := weft.Cluster{
			Ranks: 4, Seed: seed, Liveness: 20 * time.Millisecond,
			Faults: []weft.Fault{{Kind: weft.Pause, Ranks: []int{3}, At: time.Millisecond,
				For: time.Duration(18+seed) * time.Millisecond}},
		}
		var dead [4][]int
		var errs [4]error
		_, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
			g := World(p)
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			if err := p.Sleep(ctx, 2*time.Millisecond); err != nil {
				return err
			}
			a, err := g.Agree(ctx, 1)
			dead[p.Rank()] = a.Dead
			errs[p.Rank()] = err
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for rank := range 3 {
			if errs[rank] != nil || !slices.Equal(dead[rank], dead[0]) || len(dead[0]) > 0 && !slices.Equal(dead[0], []int{3}) {
				t.Errorf("seed %d: rank %d: dead %v, %v; rank 0: %v", seed, rank, dead[rank], errs[rank], dead[0])
			}
		}
		alone := errs[3] == nil && slices.Equal(dead[3], []int{0, 1, 2})
		switch {
		case errors.Is(errs[3], ErrExcluded):
			heard++
		case len(dead[0]) > 0 && !alone:
			t.Errorf("seed %d: the outcast: %v, %v", seed, dead[3], errs[3])
		}
	}
	if heard == 0 {
		t.Error("no outcast was told")
	}
}
