package coll

import (
	"context"
	"fmt"
	"slices"

	"weft"
	"weft/internal/mem"
)

// A Group is some ranks that operate together. Its members are numbered by their
// place in it.
type Group struct {
	port    *weft.Port
	members []int
	me      int
	all     bool // the members are all ranks of the job
	scratch []byte
	sent    []*weft.Op
}

// New returns the group of some ranks, in the same order at all of them; nil means
// all ranks. Channel is a logical channel that all use for this group and for
// nothing else.
func New(ctx context.Context, p *weft.Proc, channel int, members []int) (*Group, error) {
	g := &Group{members: slices.Clone(members)}
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

// send sends elements to a member.
func send[T Element](ctx context.Context, g *Group, to int, s []T) error {
	return g.port.Send(ctx, g.members[to], mem.Bytes(s))
}

// receive receives as many elements as dst has from a member.
func receive[T Element](ctx context.Context, g *Group, op string, from int, dst []T) error {
	b := mem.Bytes(dst)
	n, err := g.port.RecvIntoFrom(ctx, g.members[from], b)
	if err != nil {
		return g.explain(op, from, err, len(b), mem.Size[T]())
	}
	if n != len(b) {
		return &LengthError{op, g.members[from], n / mem.Size[T](), len(dst)}
	}
	return nil
}

// explain turns the error of a message that was too long into a LengthError.
func (g *Group) explain(op string, from int, err error, room, size int) error {
	if long, ok := tooLong(err); ok {
		return &LengthError{op, g.members[from], long / size, room / size}
	}
	return err
}

// exchange sends to one member and receives from one, at the same time.
func exchange[T Element](ctx context.Context, g *Group, op string, to int, s []T, from int, dst []T) error {
	sent, err := g.port.StartSend(ctx, g.members[to], mem.Bytes(s))
	if err != nil {
		return err
	}
	err = receive(ctx, g, op, from, dst)
	if e := sent.Wait(ctx); err == nil {
		err = e
	}
	sent.Free()
	return err
}

// exchanges sends to all other members and receives from all, at the same time:
// part and dest return what goes to a member, and where what comes from it goes.
func exchanges[T Element](ctx context.Context, g *Group, op string, part, dest func(i int) []T) error {
	n := g.Size()
	g.sent = g.sent[:0]
	var failed error
	for step := 1; step < n && failed == nil; step++ {
		to := (g.me + step) % n
		sent, err := g.port.StartSend(ctx, g.members[to], mem.Bytes(part(to)))
		if failed = err; err == nil {
			g.sent = append(g.sent, sent)
		}
	}
	for step := 1; step < n && failed == nil; step++ {
		from := (g.me - step + n) % n
		failed = receive(ctx, g, op, from, dest(from))
	}
	for _, sent := range g.sent {
		if err := sent.Wait(ctx); failed == nil {
			failed = err
		}
		sent.Free()
	}
	return failed
}

// room returns memory for n elements, good until the next call.
func room[T Element](g *Group, n int) []T {
	if need := n*mem.Size[T]() + 8; len(g.scratch) < need {
		g.scratch = mem.Aligned(2 * need)
	}
	return mem.View[T](g.scratch, n)
}
