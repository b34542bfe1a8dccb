package mpi

import (
	"context"
	"errors"
	"fmt"

	"weft/internal/agreement"
)

// An Agreement is what the members of a communicator have agreed on. It is the same at all members to
// which Agree has returned it.
type Agreement struct {
	Flags uint64 // the bitwise AND of the flags of the members that are not in Dead
	Dead  []int  // the members that have died or left, or have failed to make the communicator, in order
}

// Agree returns what the members agree on, when all members that live have called it: the bitwise
// AND of their flags, and the members that have died or left. It works whichever ranks die, at any
// moment, and also in a communicator whose operations have failed or that is revoked. So the members find
// out together whether all of them have completed an operation. It is MPI_Comm_agree of ULFM
// [Bland13]; package internal/agreement has the algorithm.
//
// If a member dies during Agree, either all results have it in Dead or its flags count in all of
// them. A member that is not in Dead may have died since.
//
// Any number of goroutines may call Agree, also while one is in another operation of the communicator; the
// agreements of a communicator are numbered in the order in which they begin.
//
// When ctx ends first the error is a weft.WaitError, and the member's flags may count or not. An
// [ExcludedError] means that other members have taken this rank for dead. The error matches
// [ErrMismatch] if another member has called Shrink.
func (c *Comm) Agree(ctx context.Context, flags uint64) (Agreement, error) {
	v, err := c.agree(ctx, flags, toAgree)
	if err != nil {
		return Agreement{}, err
	}
	return Agreement{Flags: v.And, Dead: c.dead(v.Dead)}, nil
}

// A purpose is that of an agreement.
type purpose uint32

const (
	toAgree purpose = iota
	toShrink
)

func (p purpose) String() string {
	switch p {
	case toAgree:
		return "Agree"
	case toShrink:
		return "Shrink"
	}
	return "something else"
}

// agree agrees on flags for a purpose, which must be the same at all members.
func (c *Comm) agree(ctx context.Context, flags uint64, to purpose) (agreement.Value, error) {
	c.w.mu.Lock()
	err := c.w.err
	c.w.mu.Unlock()
	if err != nil {
		return agreement.Value{}, err
	}
	v, err := c.w.meet(c).agree(ctx, flags, uint32(to), to.String())
	if err == nil && v.Min != v.Max {
		other := purpose(v.Min)
		if other == to {
			other = purpose(v.Max)
		}
		err = fmt.Errorf("mpi: this rank has called %v, and others %v: %w", to, other, ErrMismatch)
	}
	return v, err
}

// dead returns the members in a set of places.
func (c *Comm) dead(s agreement.Set) []int {
	var places []int
	for place := range c.group.n {
		if s.Has(place) {
			places = append(places, place)
		}
	}
	return places
}

// errShrunk is the reason with which Shrink revokes the old communicator.
var errShrunk = errors.New("mpi: the communicator is shrunk to the members that are left")

// Shrink returns a communicator of the members that live, in the same order. All members that live call it, and it
// returns when all have.
//
// Shrink first revokes the old communicator, so that members that are still in an operation get here, too.
// Then the members agree on which of them live, with the promises and errors of Agree: all get the
// same communicator. A member that dies afterwards is still in the new one: its operations fail, and it is
// shrunk in turn, at most 255 times. It is MPI_Comm_shrink of ULFM.
//
// The old communicator must not be used any more, except for Free.
func (c *Comm) Shrink(ctx context.Context) (*Comm, error) {
	if c.id&maxAge == maxAge {
		return nil, fmt.Errorf("mpi: %v has been shrunk too often", c)
	}
	c.Revoke(errShrunk)
	v, err := c.agree(ctx, 0, toShrink)
	if err != nil {
		return nil, err
	}
	live, err := c.group.Exclude(c.dead(v.Dead)...)
	if err != nil {
		return nil, err
	}
	return c.w.make(c.id+1, live), nil
}
