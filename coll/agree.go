package coll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/internal/agreement"
)

// An Agreement is what the members of a group have agreed on. It is the same at all members to
// which Agree has returned it.
type Agreement struct {
	Flags uint64 // the bitwise AND of the flags of the members that are not in Dead
	Dead  []int  // the ranks of the members that have died or left, in the group's order
}

// Agree returns what the members agree on, when all members that live have called it: the bitwise
// AND of their flags, and the members that have died or left. It works whichever ranks die, at any
// moment, and also in a group whose operations have failed or that is revoked. So the members find
// out together whether all of them have completed an operation. It is MPI_Comm_agree of ULFM
// [Bland13]; package internal/agreement has the algorithm.
//
// If a member dies during Agree, either all results have it in Dead or its flags count in all of
// them. A member that is not in Dead may have died since.
//
// Any number of goroutines may call Agree, also while one is in another operation of the group; the
// agreements of a group are numbered in the order in which they begin. The first Agree takes the
// channel 32768 above the group's own, so that must be below 32768. The second channel stays in use
// until the Proc is closed, and a group that agrees cannot be opened on either of the two again.
//
// When ctx ends first the error is a weft.WaitError, and the member's flags may count or not. An
// [ExcludedError] means that other members have taken this rank for dead. The error matches
// [ErrMismatch] if another member has called Shrink.
func (g *Group) Agree(ctx context.Context, flags uint64) (Agreement, error) {
	v, err := g.agree(ctx, flags, kindAgree, "Agree")
	if err != nil {
		return Agreement{}, err
	}
	return Agreement{Flags: v.And, Dead: g.dead(v.Dead)}, nil
}

// The purposes of an agreement.
const (
	kindAgree  = 0
	kindShrink = 1 // plus the channel of the new group
)

// agree agrees on flags for a purpose, which must be the same at all members.
func (g *Group) agree(ctx context.Context, flags uint64, kind uint32, doing string) (agreement.Value, error) {
	c, err := g.meet()
	if err != nil {
		return agreement.Value{}, err
	}
	v, err := c.agree(ctx, flags, kind, doing)
	if err == nil && v.Min != v.Max {
		other := v.Min
		if other == kind {
			other = v.Max
		}
		err = fmt.Errorf("coll: this rank has called %s, and others %s: %w", purpose(kind), purpose(other), ErrMismatch)
	}
	return v, err
}

// purpose describes a purpose in words.
func purpose(kind uint32) string {
	if kind == kindAgree {
		return "Agree"
	}
	if kind > kindShrink+maxChannel {
		return "something else"
	}
	return fmt.Sprintf("Shrink to channel %d", kind-kindShrink)
}

// dead returns the ranks of the members in a set of places.
func (g *Group) dead(s agreement.Set) []int {
	var ranks []int
	for place, rank := range g.members {
		if s.Has(place) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// ErrExcluded says that other members have taken this rank for dead; see ExcludedError.
var ErrExcluded = errors.New("coll: other members have taken this rank for dead")

// An ExcludedError reports that other members have taken this rank for dead, because it was stopped
// for too long or because one of them could not reach it, and go on without it. The program should
// end. It matches ErrExcluded.
type ExcludedError struct {
	Channel int // of the group
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("coll: group on channel %d: other members have taken this rank for dead and go on without it",
		e.Channel)
}

// Is makes every ExcludedError match ErrExcluded.
func (e *ExcludedError) Is(target error) bool { return target == ErrExcluded }

// Revoke ends the group for all members, because this one cannot go on with it. Operations that are
// under way and all later ones end with a weft.RevokedError that carries the reason, here and at
// the other members; Agree and Shrink still work. An operation that fails revokes the group itself.
// A member that is computing notices in its next operation. Any goroutine may call Revoke, at any
// time. It is MPI_Comm_revoke of ULFM.
func (g *Group) Revoke(why error) { g.port.Revoke(g.members, why) }

// errShrunk is the reason with which Shrink revokes the old group.
var errShrunk = errors.New("coll: the group is shrunk to the members that are left")

// Shrink returns a group of the members that live, in the same order, on another channel, which
// must serve nothing else. All members that live call it with the same channel, and it returns when
// all have.
//
// Shrink first revokes the old group, so that members that are still in an operation get here, too.
// Then the members agree on which of them live, with the promises and errors of Agree: all get the
// same group. The new group has the next generation, which tells its messages from those of the old
// group. A member that dies afterwards is still in the new group: its operations fail, and it is
// shrunk in turn. It is MPI_Comm_shrink of ULFM.
//
// The old group must not be used any more, except for Close.
func (g *Group) Shrink(ctx context.Context, channel int) (*Group, error) {
	if channel < 0 || channel > maxChannel {
		return nil, &weft.ConfigError{Field: "channel", Value: channel, Min: 0, Max: maxChannel}
	}
	g.Revoke(errShrunk)
	// The port must be open before another member can have the new group and revoke its channel.
	port, err := g.p.OpenPort(channel, nil)
	if err != nil {
		return nil, err
	}
	kind := kindShrink + uint32(channel)
	v, err := g.agree(ctx, 0, kind, purpose(kind))
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	gone := g.dead(v.Dead)
	live := slices.DeleteFunc(slices.Clone(g.members), func(rank int) bool { return slices.Contains(gone, rank) })
	return newGroup(g.p, port, channel, live, g.age+1), nil
}
