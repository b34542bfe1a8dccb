package coll

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"weft"
	"weft/extend"
	"weft/internal/mem"
)

// A Group is an ordered set of ranks that operate together. A member is numbered by its place in
// the group, from 0.
type Group struct {
	p       *weft.Proc
	port    *weft.Port
	whole   *weft.Port // the same, for operations of all ranks
	sender  *weft.Port // by which the operation that is under way sends: port or whole
	channel int
	members []int      // ranks, by place
	me      int        // this rank's place
	age     uint32     // the generation
	all     bool       // the members are all ranks of the job
	now     call       // the operation that is under way
	seq     uint32     // the number of operations so far
	in      []byte     // a message that is being received
	out     [][]byte   // messages that are being sent
	sent    []*weft.Op // the operations that send them
	scratch []byte     // memory of room

	consensusMu sync.Mutex // guards consensus while it is made
	consensus   *consensus // agrees with those of the other members; nil until it is needed
}

// begin notes the operation that begins.
func begin[T Element](g *Group, k Operation, root, length int) *Group {
	g.now = call{op: k, elem: reflect.TypeFor[T]().Kind(), root: int32(root), age: g.age, length: uint64(length)}
	if k != OpPointToPoint {
		g.seq++
		g.now.seq = g.seq
	}
	return g
}

// end adds the operation to the error of an operation that has failed, and revokes the group, since
// other members may wait for this one.
func (g *Group) end(err *error) {
	if *err == nil {
		return
	}
	if !errors.Is(*err, ErrLength) && !errors.Is(*err, ErrMismatch) {
		*err = &opError{g.now.public(), *err}
	}
	g.port.Revoke(g.members, *err)
}

// An opError says which operation has failed.
type opError struct {
	op  Call
	err error
}

func (e *opError) Error() string {
	return fmt.Sprintf("coll: %v: %s", e.op, strings.TrimPrefix(strings.TrimPrefix(e.err.Error(), "weft: "), "coll: "))
}

// Unwrap returns the cause.
func (e *opError) Unwrap() error { return e.err }

// Open returns the group of some ranks, which all of them call with the same ranks in the same
// order and the same channel; nil means all ranks of the job. The channel, 0 to 65535, must serve
// nothing else at these ranks. Open does not wait for the other members, and keeps no reference to
// members. The error matches weft.ErrNotMember if this rank is not one of the members, weft.ErrRank
// if there is no such rank, and weft.ErrInUse if the channel is in use.
func Open(p *weft.Proc, channel int, members []int) (*Group, error) {
	if members == nil {
		for rank := range p.Size() {
			members = append(members, rank)
		}
	}
	if !slices.Contains(members, p.Rank()) {
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
	port, err := p.OpenPort(channel, nil)
	if err != nil {
		return nil, err
	}
	return newGroup(p, port, channel, slices.Clone(members), 0), nil
}

// newGroup returns the group of some ranks on a port of this rank.
func newGroup(p *weft.Proc, port *weft.Port, channel int, members []int, age uint32) *Group {
	g := &Group{p: p, port: port, channel: channel, members: members, age: age, in: make([]byte, headSize+inline)}
	g.me = slices.Index(members, p.Rank())
	g.all = len(members) == p.Size()
	g.whole = extend.Collective(port)
	g.sender = g.collective()
	return g
}

// collective returns the port by which the group sends what is part of a collective operation. A
// trace counts apart what
// is part of operations of all ranks.
func (g *Group) collective() *weft.Port {
	if g.all {
		return g.whole
	}
	return g.port
}

// Size returns the number of members.
func (g *Group) Size() int { return len(g.members) }

// Rank returns this rank's place in the group, from 0.
func (g *Group) Rank() int { return g.me }

// Members returns the ranks of the members, in order. The caller must not change the slice.
func (g *Group) Members() []int { return g.members }

// Generation returns how often the group has been shrunk: 0 for a group that Open has returned.
func (g *Group) Generation() int { return int(g.age) }

// Close gives the channel back; the group must not be used any more. The channel of its agreements
// stays open until the Proc is closed: members that have not heard of a result can still ask for
// it.
func (g *Group) Close() error { return g.port.Close() }

// Alloc returns n zeroed elements in memory that ranks of the same host can read without a system
// call: long slices sent from it are copied once. The memory is valid until the Proc is closed.
func Alloc[T Element](p *weft.Proc, n int) ([]T, error) {
	b, err := p.Alloc(max(n*mem.Size[T](), 8))
	if err != nil {
		return nil, err
	}
	return mem.View[T](b, n), nil
}

// ErrLength says that the lengths of slices do not belong together; see LengthError.
var ErrLength = errors.New("coll: the lengths of slices do not belong together")

// A LengthError reports that members gave slices of lengths that do not belong together. It matches
// ErrLength.
type LengthError struct {
	Op   Operation
	From int // the rank that sent Got elements, or -1: the slice is this rank's own
	Got  int // elements
	Want int // elements that the operation needs
}

// Is makes every LengthError match ErrLength.
func (e *LengthError) Is(target error) bool { return target == ErrLength }

func (e *LengthError) Error() string {
	if e.From < 0 {
		return fmt.Sprintf("coll: %v: a slice has %d elements, and must have %d", e.Op, e.Got, e.Want)
	}
	return fmt.Sprintf("coll: %v: rank %d sent %d elements, and this rank expected %d: the lengths must be equal",
		e.Op, e.From, e.Got, e.Want)
}

// A Number is a type that can be reduced.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// An Element is a type that can be sent: a value without pointers. All members must have the same
// byte order.
type Element interface{ Number | ~bool }

// room returns memory for n elements, which is valid until the next call.
func room[T Element](g *Group, n int) []T {
	if need := n*mem.Size[T]() + 8; len(g.scratch) < need {
		g.scratch = mem.Aligned(2 * need)
	}
	return mem.View[T](g.scratch, n)
}
