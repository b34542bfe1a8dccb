package coll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/internal/agreement"
)

// An Agreement is what the members of a group have agreed on: the same at all that are told.
type Agreement struct {
	Flags uint64 // bitwise and of what the members have said that are not in Dead
	Dead  []int  // ranks of members that take no part any more, in the group's order
}

// Agree returns what the members agree on, when all that live have called it: the bitwise and of their flags, and which
// of them are dead, or have left. It works whichever ranks die meanwhile, at any moment, and in a group whose operations
// have failed, or that is revoked: so members find out together whether all of them got through, and go on, or back, all
// of them. It is MPI_Comm_agree of ULFM (Bland et al. 2013); package agreement has the algorithm.
//
// A rank that dies in the middle counts among the dead, or its flags count, for all. A rank that is not in Dead may have died
// since.
//
// Any number of goroutines may call it, also while one is in another operation of the group: the agreements are numbered in
// the order in which they begin. The first takes a channel besides the group's own: the one that is 32768 higher, so the
// group's must be below that. It stays in use until the Proc is closed, and Open gives none of the two
// to a group that agrees.
//
// When ctx ends the error is a WaitError; what the member has said may have been counted, and may yet. An
// [ExcludedError] says that others have taken this rank for dead. ErrMismatch: another member has called Shrink.
func (g *Group) Agree(ctx context.Context, flags uint64) (Agreement, error) {
	v, err := g.agree(ctx, flags, kindAgree, "Agree")
	if err != nil {
		return Agreement{}, err
	}
	return Agreement{Flags: v.And, Dead: g.dead(v.Dead)}, nil
}

// What members agree for: to agree, or to shrink to a group on a channel.
const (
	kindAgree  = 0
	kindShrink = 1 // and the channel
)

// agree agrees on flags for some purpose, which must be that of all members.
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

// purpose returns a kind in words.
func purpose(kind uint32) string {
	if kind == kindAgree {
		return "Agree"
	}
	if kind > kindShrink+maxChannel {
		return "something else"
	}
	return fmt.Sprintf("Shrink to channel %d", kind-kindShrink)
}

// dead returns the ranks of some members.
func (g *Group) dead(s agreement.Set) []int {
	var ranks []int
	for place, rank := range g.members {
		if s.Has(place) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// ErrExcluded: other members have taken this rank for dead; see ExcludedError.
var ErrExcluded = errors.New("coll: other members have taken this rank for dead")

// An ExcludedError reports that members that this rank can still hear have taken it for dead, since it was stopped for
// too long or another one could not reach it, and go on without it. It matches ErrExcluded. The rank should end.
type ExcludedError struct {
	Channel int // of the group
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("coll: group on channel %d: other members have taken this rank for dead, and go on without it", e.Channel)
}

// Is makes every ExcludedError match ErrExcluded.
func (e *ExcludedError) Is(target error) bool { return target == ErrExcluded }

// Revoke ends the group for all members, because this one cannot go on with it: its operations, those under way and
// all later ones, end with a weft.RevokedError that carries the reason, here and at the other members, but for Agree and
// Shrink. An operation that fails does it by itself. A member that computes finds out in its next operation, and passes
// it on. Any goroutine may call it, at any time. It is MPI_Comm_revoke of ULFM.
func (g *Group) Revoke(why error) { g.port.Revoke(g.members, why) }

// errShrunk is why a group is over that is shrunk.
var errShrunk = errors.New("coll: the group is shrunk to those that are left")

// Shrink returns a group of the members that live, in the same order, on a channel that is used for nothing else, when all
// that live have called it, with the same channel. First it revokes the group, so that members that are still
// in an operation of it come here, too. They agree on which ranks live as in Agree, with its promises and errors: all get
// the same group, and it has the next generation, by which whatever may come of the old one is told from it.
// A member that dies afterwards is still in the new group, whose operations then fail: shrink that. It is MPI_Comm_shrink
// of ULFM.
//
// The old group is of no more use, but for Close.
func (g *Group) Shrink(ctx context.Context, channel int) (*Group, error) {
	if channel < 0 || channel > maxChannel {
		return nil, &weft.ConfigError{Field: "channel", Value: channel, Min: 0, Max: maxChannel}
	}
	g.Revoke(errShrunk)
	// The port is open before others can have the new group, and revoke its channel.
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
