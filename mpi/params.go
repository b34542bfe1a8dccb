package mpi

import (
	"context"

	"weft/internal/mem"
)

// params are what a member gives to a collective operation.
type params struct {
	op       Operation
	varied   bool // it has a length for each member
	how      manner
	root     int // of an operation that has one
	src, dst parts
	combine  combine
}

// A manner is how an operation is called.
type manner uint8

const (
	called     manner = iota
	started           // it is only begun
	byMessages        // never on the board
)

// even returns the params of an operation whose members all give, and get, as much.
func even(op Operation, src, dst Buffer, root int) *params {
	return &params{op: op, root: root, src: parts{all: src}, dst: parts{all: dst}}
}

// uneven returns the params of an operation that has a length for each member.
func uneven(op Operation, src, dst parts, root int) *params {
	return &params{op: op, varied: true, root: root, src: src, dst: dst}
}

// combining returns the params of a reduction.
func combining[T any](o Operation, src, dst Buffer, op Op[T], root int) *params {
	return &params{op: o, root: root, src: parts{all: src}, dst: parts{all: dst}, combine: typed[T](op)}
}

// combine is an Op on the bytes of elements, which are aligned to 8.
type combine interface{ apply(dst, src []byte) }

// typed is an Op of elements of one type. As a function it fits into an interface without being copied to the heap.
type typed[T any] Op[T]

func (op typed[T]) apply(dst, src []byte) {
	if n := mem.Size[T](); n > 0 {
		op(mem.View[T](dst, len(dst)/n), mem.View[T](src, len(src)/n))
	}
}

// parts are a buffer, which divide divides among members, or a buffer for each member.
type parts struct {
	all  Buffer
	each []Buffer

	flat Buffer // once it has been divided: all its elements, without a section
	n    int    // how many each member has of them
}

// each returns parts that are a buffer for each member.
func each(list []Buffer) parts { return parts{all: none, each: list} }

// none is a buffer without elements.
var none = Of([]byte(nil))

// of returns the part of a member. The parts have been divided.
func (p *parts) of(member int) Buffer {
	if p.each != nil {
		return p.each[member]
	}
	return p.flat.cut(member*p.n, (member+1)*p.n)
}

// divide prepares parts for of, as many as there are members or neighbours. If they are one buffer each has n elements.
func (k *call) divide(p *parts, many, n int) error {
	if !k.varied && p.each == nil {
		if err := p.all.check(); err != nil {
			return err
		}
		p.n = n
		p.flat = k.flatten(&p.all)
		return k.want(p.all.count(), n*many)
	}
	if err := k.want(len(p.each), many); err != nil {
		return err
	}
	for i := range p.each {
		if err := p.each[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// flatten returns a buffer with the same elements that has no section: if need be, a copy.
func (k *call) flatten(b *Buffer) Buffer {
	if b.at == nil {
		return *b
	}
	f := k.like(b, b.bytes())
	b.pack(f.b)
	return f
}

// like returns a buffer of n bytes for elements of the same kind.
func (k *call) like(b *Buffer, n int) Buffer { return Buffer{b: k.room(n), size: b.size, kind: b.kind} }

// describe puts into the header what members must have alike, after it has replaced InPlace by what stands for it. It
// returns an error if the operation cannot be carried out.
func (k *call) describe() error {
	c := k.c
	shape := &shapes[k.op]
	mine := &k.src
	whole := &k.dst
	if k.op == OpScatter {
		mine, whole = whole, mine
	}
	if mine.all.inPlace && (!shape.rooted || c.me == k.root) && k.op != OpAllToAll {
		mine.all = whole.partOf(c.me, c.group.n)
	}
	b := &k.src.all
	if shape.byDst {
		b = &k.dst.all
	}
	k.head = header{comm: c.id, class: collective, op: k.op, root: -1}
	b.describe(&k.head)
	switch {
	case k.varied:
		k.head.length = vary
	case k.op == OpNeighborAllToAll:
		k.head.length /= uint64(max(len(c.topology.to), 1))
	}
	if err := b.check(); err != nil || !shape.rooted {
		return err
	}
	k.head.root = int32(k.root)
	return c.has(k.root)
}

// partOf returns the part of a member before the parts are divided, or InPlace if that cannot be.
func (p *parts) partOf(member, members int) Buffer {
	n := p.all.count() / members
	switch {
	case member < len(p.each):
		return p.each[member]
	case p.each == nil && p.all.at == nil:
		return p.all.cut(member*n, (member+1)*n)
	}
	return InPlace
}

// carryOut carries the operation out, by the algorithm that the table chooses.
func (k *call) carryOut(ctx context.Context) error {
	if err := k.prepareBoard(); err != nil {
		return err
	}
	a := k.algorithm()
	if !k.choose(a) {
		return k.byMessages(ctx, a)
	}
	if err := k.way.begin(k); err != nil {
		return err
	}
	return k.carry(ctx)
}

// byMessages carries the operation out by an algorithm that sends messages.
func (k *call) byMessages(ctx context.Context, a *algorithm) error {
	err := a.run(k, ctx)
	if k.dst.all.at != nil && k.dst.flat.b != nil {
		k.dst.all.unpack(k.dst.flat.b)
	}
	return err
}

// want returns a LengthError unless a slice of this member has the length that it must have.
func (k *call) want(got, want int) error {
	if got != want {
		return &LengthError{k.op, -1, got, want}
	}
	return nil
}
