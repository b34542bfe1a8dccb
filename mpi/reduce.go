package mpi

import (
	"context"

	"weft/internal/mem"
)

// combine is an Op on the bytes of elements.
type combine func(dst, src []byte)

// on returns an Op that works on bytes, which are aligned to 8.
func on[T any](op Op[T]) combine {
	return func(dst, src []byte) {
		if n := mem.Size[T](); n > 0 {
			op(mem.View[T](dst, len(dst)/n), mem.View[T](src, len(src)/n))
		}
	}
}

// Reduce combines the members' slices, all of one length, into the slice of the root. The others keep theirs. It takes
// a binomial tree.
func Reduce[T any](ctx context.Context, c *Comm, s []T, op Op[T], root int) error {
	return c.reducing(Of(s), on(op), root).do(ctx)
}

// StartReduce begins a Reduce (MPI_Ireduce).
func StartReduce[T any](c *Comm, s []T, op Op[T], root int) (*Request, error) {
	return c.reducing(Of(s), on(op), root).start()
}

func (c *Comm) reducing(b Buffer, op combine, root int) plan {
	return c.plan(OpReduce, root, b, b.count(), func(ctx context.Context, k *call) error {
		return k.reduce(ctx, b, op, root)
	})
}

// reduce goes up a tree whose root is member 0, so that elements are combined in the order of the ranks.
func (k *call) reduce(ctx context.Context, b Buffer, op combine, root int) error {
	n := k.c.group.n
	me := k.c.me
	m := newRoom()
	defer m.put()
	memory := m.get(2 * roomFor(b))
	in := b.in(memory[roomFor(b):])
	sum := b
	if me != root && me&1 == 0 && me+1 < n { // it combines, and keeps its slice
		sum = b.in(memory)
		copy(sum.b, b.b)
	}
	for bit := 1; bit < n; bit <<= 1 {
		if me&bit != 0 {
			if err := k.sendTo(ctx, me-bit, sum); err != nil || me != root {
				return err
			}
			return k.receiveFrom(ctx, 0, b)
		}
		if me+bit < n {
			if err := k.receiveFrom(ctx, me+bit, in); err != nil {
				return err
			}
			op(sum.b, in.b)
		}
	}
	if root != 0 {
		return k.sendTo(ctx, root, sum)
	}
	return nil
}

// roomFor returns the length in bytes of a buffer, rounded up to 8.
func roomFor(b Buffer) int { return (len(b.b) + 7) &^ 7 }

// in returns a buffer for as many elements in other memory.
func (b *Buffer) in(memory []byte) Buffer {
	return Buffer{b: memory[:len(b.b)], size: b.size, kind: b.kind}
}

// The lengths in bytes from which on AllReduce reduces parts and gathers them: of the slice, and of each part. Then the
// bytes on each link count more than the number of messages one after another.
const (
	partedBytes = 32 << 10
	partBytes   = 256
)

// AllReduce combines the members' slices, all of one length, and puts the result into all of them,
// with the same bits at all members. Slices of less than 32 KiB take recursive doubling, after members beyond a power
// of two have given theirs to others. For longer ones each member combines a part, and the parts go round a ring
// [Thakur05].
func AllReduce[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	b := Of(s)
	k, err := c.plan(OpAllReduce, -1, b, len(s), nil).begin()
	if err == nil {
		err = k.allReduce(ctx, b, on(op))
	}
	return k.end(err)
}

// StartAllReduce begins an AllReduce (MPI_Iallreduce).
func StartAllReduce[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	b := Of(s)
	return c.plan(OpAllReduce, -1, b, len(s), func(ctx context.Context, k *call) error {
		return k.allReduce(ctx, b, on(op))
	}).start()
}

func (k *call) allReduce(ctx context.Context, b Buffer, op combine) error {
	n := k.c.group.n
	switch {
	case n == 1:
		return nil
	case len(b.b) < partedBytes || len(b.b)/n < partBytes || b.count() < n:
		return k.reduceAll(ctx, b, op)
	}
	part := func(i int) Buffer { return b.cut(share(b.count(), n, i)) }
	if err := k.reduceParts(ctx, part, op); err != nil {
		return err
	}
	return k.ring(ctx, part)
}

// reduceAll is AllReduce by recursive doubling. Of 2^m + r members the first 2r are pairs, of which the second gives
// its slice to the first one, and gets the result from it.
func (k *call) reduceAll(ctx context.Context, b Buffer, op combine) error {
	n := k.c.group.n
	me := k.c.me
	core := 1
	for 2*core <= n {
		core *= 2
	}
	pairs := n - core
	paired := me < 2*pairs
	if paired && me&1 == 1 {
		if err := k.sendTo(ctx, me-1, b); err != nil {
			return err
		}
		return k.receiveFrom(ctx, me-1, b)
	}
	m := newRoom()
	defer m.put()
	in := b.in(m.get(len(b.b)))
	place := me - pairs
	if paired {
		place = me / 2
		if err := k.receiveFrom(ctx, me+1, in); err != nil {
			return err
		}
		op(b.b, in.b)
	}
	for bit := 1; bit < core; bit <<= 1 {
		with := place ^ bit
		if with < pairs {
			with *= 2
		} else {
			with += pairs
		}
		if err := k.exchange(ctx, with, b, with, in); err != nil {
			return err
		}
		if place&bit == 0 {
			op(b.b, in.b)
		} else { // both combine in the same order
			op(in.b, b.b)
			copy(b.b, in.b)
		}
	}
	if paired {
		return k.sendTo(ctx, me+1, b)
	}
	return nil
}
