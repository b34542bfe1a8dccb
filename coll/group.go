package coll

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"weft"
	"weft/internal/mem"
)

// A Group is some ranks that operate together. Its members are numbered by their
// place in it.
type Group struct {
	port    *weft.Port
	members []int
	me      int
	all     bool       // the members are all ranks of the job
	now     call       // the operation that goes on
	seq     uint32     // operations so far
	in      []byte     // a message that is received
	out     [][]byte   // messages that are being sent
	sent    []*weft.Op // and their operations
	scratch []byte
}

// begin says which operation goes on from now.
func begin[T Element](g *Group, k kind, root, length int) *Group {
	g.now = call{kind: k, elem: reflect.TypeFor[T]().Kind(), root: int32(root), length: uint64(length)}
	if k != pointToPoint {
		g.seq++
		g.now.seq = g.seq
	}
	return g
}

// end tells all members when an operation has failed: some may wait for this one, and others for those.
func (g *Group) end(err *error) {
	if *err == nil {
		return
	}
	var length *LengthError
	if !errors.As(*err, &length) && !errors.Is(*err, ErrMismatch) {
		*err = &opError{g.now.public(), *err}
	}
	g.port.Revoke(g.members, *err)
}

// An opError says in which operation something failed.
type opError struct {
	op  Call
	err error
}

func (e *opError) Error() string {
	return fmt.Sprintf("coll: %v: %s", e.op, strings.TrimPrefix(strings.TrimPrefix(e.err.Error(), "weft: "), "coll: "))
}

// Unwrap returns what failed.
func (e *opError) Unwrap() error { return e.err }

// New returns the group of some ranks, in the same order at all of them; nil means
// all ranks. Channel is a logical channel that all use for this group and for
// nothing else.
func New(ctx context.Context, p *weft.Proc, channel int, members []int) (*Group, error) {
	g := &Group{members: slices.Clone(members), in: make([]byte, headSize+inline)}
	if members == nil {
		for rank := range p.Size() {
			g.members = append(g.members, rank)
		}
	}
	g.me = slices.Index(g.members, p.Rank())
	if g.me < 0 {
		return nil, fmt.Errorf("coll: rank %d is not one of the group's members: %w", p.Rank(), weft.ErrNotMember)
	}
	have := make(map[int]bool, len(members))
	for _, rank := range members {
		if rank < 0 || rank >= p.Size() {
			return nil, &weft.RankError{Rank: rank, Size: p.Size()}
		}
		if have[rank] {
			return nil, fmt.Errorf("coll: rank %d is a member of the group twice", rank)
		}
		have[rank] = true
	}
	var err error
	g.port, err = p.Open(ctx, channel, nil)
	if err != nil {
		return nil, err
	}
	g.all = g.Size() == p.Size()
	g.port.Collective(g.all)
	return g, nil
}

// Size returns the number of members.
func (g *Group) Size() int { return len(g.members) }

// Rank returns this rank's place in the group, from 0.
func (g *Group) Rank() int { return g.me }

// Members returns the ranks of the members, in order. It must not be changed.
func (g *Group) Members() []int { return g.members }

// Close gives the channel back. The group must not be used any more.
func (g *Group) Close() error { return g.port.Close() }

// Alloc returns n zeroed elements in memory that ranks of the same host can read
// without a system call: what is sent from it is copied once. The Proc gives it
// back when it is closed.
func Alloc[T Element](p *weft.Proc, n int) ([]T, error) {
	b, err := p.Alloc(max(n*mem.Size[T](), 8))
	if err != nil {
		return nil, err
	}
	return mem.View[T](b, n), nil
}

// A LengthError reports that members gave slices of lengths that do not belong
// together.
type LengthError struct {
	Op        string
	From      int // the rank that sent, or -1: it is a slice of this rank
	Got, Want int // elements
}

func (e *LengthError) Error() string {
	if e.From < 0 {
		return fmt.Sprintf("coll: %s: a slice of %d elements, where %d belong", e.Op, e.Got, e.Want)
	}
	return fmt.Sprintf("coll: %s: rank %d sent %d elements, where %d belong: all members must say the same", e.Op, e.From, e.Got, e.Want)
}

// A Number is what can be reduced.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~float32 | ~float64 | ~complex64 | ~complex128
}

// An Element is what can be sent: a value without pointers. Members must be
// machines of the same byte order.
type Element interface{ Number | ~bool }

// room returns memory for n elements, good until the next call.
func room[T Element](g *Group, n int) []T {
	if need := n*mem.Size[T]() + 8; len(g.scratch) < need {
		g.scratch = mem.Aligned(2 * need)
	}
	return mem.View[T](g.scratch, n)
}
