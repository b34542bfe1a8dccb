package weft

import (
	"context"
	"fmt"

	"weft/internal/engine/coord"
)

// A Cond is a condition that ranks wait for, and are woken from by others, as
// sync.Cond is one for goroutines. Who waits is known to its home.
type Cond struct{ locker }

// Cond returns the condition of a name.
func (p *Proc) Cond(name string) *Cond {
	return &Cond{p.locker(coord.Config{Class: coord.Cond, Name: name}, nil)}
}

// Wait gives back l, which this rank holds, waits until it is woken, and takes l
// again: nobody who holds l between can wake it in vain. What was waited for must
// be looked at again, because others may have come first. When ctx ends l is
// taken again all the same, and the error says so; without the lock, because its
// home has died, Wait returns a PeerError.
func (c *Cond) Wait(ctx context.Context, l *Lock) (Grant, error) {
	if c.err != nil {
		return Grant{}, c.err
	}
	always := context.WithoutCancel(ctx)
	r, err := c.p.node.Coordinate(always, c.o, coord.Enter, 0)
	if err != nil {
		return Grant{}, public(err)
	}
	if err := l.Unlock(); err != nil {
		return Grant{}, err
	}
	_, err = c.p.node.Coordinate(ctx, c.o, coord.Await, r.N)
	if err != nil {
		err = c.p.informed(c.o.ID, public(err))
	}
	g, again := l.Lock(always)
	if again != nil {
		return Grant{}, fmt.Errorf("weft: condition %q: the lock is lost: %w", c.name, again)
	}
	return g, err
}

// Signal wakes the rank that has waited longest, and returns how many were
// woken: one or none.
func (c *Cond) Signal(ctx context.Context) (int, error) { return c.set(ctx, coord.Signal) }

// Broadcast wakes all that wait, and returns how many those were.
func (c *Cond) Broadcast(ctx context.Context) (int, error) { return c.set(ctx, coord.Broadcast) }

func (c *Cond) set(ctx context.Context, kind coord.Kind) (int, error) {
	r, err := c.do(ctx, kind)
	return int(r.N), err
}
