package weft

import (
	"context"
	"fmt"

	"weft/internal/driver"
	"weft/internal/engine/coord"
)

// A Cond lets ranks wait for a condition until another rank signals it, as sync.Cond does for
// goroutines. Its home, a rank that follows from the name, knows the ranks that wait.
type Cond struct{ locker }

// Cond returns the condition variable of a name of 1 to MaxName bytes. It does not communicate.
func (p *Proc) Cond(name string) *Cond {
	return &Cond{p.locker(coord.Config{Class: coord.Cond, Name: name}, nil)}
}

// Wait releases l, which this rank must hold, waits until it is woken, and takes l again. A rank
// that holds l in between and signals cannot be missed. After Wait the program must check the
// condition again, because other ranks may have changed it first. If ctx ends, Wait takes l
// again all the same before it returns the WaitError. If l cannot be taken again because its
// home has died, the error contains a PeerError, and this rank does not hold l.
func (c *Cond) Wait(ctx context.Context, l *Lock) (Grant, error) {
	if c.err != nil {
		return Grant{}, c.err
	}
	always := context.WithoutCancel(driver.Endless(ctx))
	r, err := c.p.node.Coordinate(always, c.o, coord.Enter, 0)
	if err != nil {
		return Grant{}, err
	}
	if err := l.Unlock(); err != nil {
		return Grant{}, err
	}
	_, err = c.p.node.Coordinate(ctx, c.o, coord.Await, r.N)
	if err != nil {
		err = c.p.informed(c.o.ID, err)
	}
	g, again := l.Lock(always)
	if again != nil {
		return Grant{}, fmt.Errorf("weft: condition %q: the lock could not be taken again: %w", c.name, again)
	}
	return g, err
}

// Signal wakes the rank that has waited longest, and returns how many ranks it has woken: one or
// none.
func (c *Cond) Signal(ctx context.Context) (int, error) { return c.set(ctx, coord.Signal) }

// Broadcast wakes all ranks that wait, and returns how many these were.
func (c *Cond) Broadcast(ctx context.Context) (int, error) { return c.set(ctx, coord.Broadcast) }

func (c *Cond) set(ctx context.Context, kind coord.Kind) (int, error) {
	r, err := c.do(ctx, kind)
	return int(r.N), err
}

// A condition also has a bit, with which ranks wait without a lock: the condition synchronization of [Hayakawa98]. A
// condition is used with a lock or by its bit, not both ways at a time. The bit is clear at first.

// SetBit sets the bit, and wakes all ranks that wait for it; it returns how many these were.
func (c *Cond) SetBit(ctx context.Context) (int, error) { return c.bit(ctx, coord.Broadcast) }

// ClearBit clears the bit: WaitBit waits again.
func (c *Cond) ClearBit(ctx context.Context) error {
	_, err := c.bit(ctx, coord.Signal)
	return err
}

func (c *Cond) bit(ctx context.Context, kind coord.Kind) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	r, err := c.p.node.Coordinate(ctx, c.o, kind, coord.Bit)
	return int(r.N), err
}

// WaitBit waits while the bit is clear. When it returns nil the bit has been set; it may have been cleared again since.
func (c *Cond) WaitBit(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	r, err := c.p.node.Coordinate(ctx, c.o, coord.Enter, coord.Bit)
	if err != nil {
		return err
	}
	if _, err = c.p.node.Coordinate(ctx, c.o, coord.Await, r.N); err != nil {
		return c.p.informed(c.o.ID, err)
	}
	return nil
}
