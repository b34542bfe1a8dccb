package coll

import (
	"cmp"
	"context"
)

// An Op combines two slices of the same length, element by element, into dst. It must be
// associative and commutative, apart from rounding, and must not keep the slices.
type Op[T Element] func(dst, src []T)

// Sum is the Op that adds.
func Sum[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

// Prod is the Op that multiplies.
func Prod[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] *= src[i]
	}
}

// Min is the Op that keeps the smaller element.
func Min[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = min(dst[i], src[i])
	}
}

// Max is the Op that keeps the larger element.
func Max[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], src[i])
	}
}

// Reduce combines the members' slices, all of one length, into the slice of root, a member's place.
// It changes the slices of the other members, which mean nothing afterwards. It takes a binomial
// tree.
func Reduce[T Element](ctx context.Context, g *Group, root int, buf []T, op Op[T]) (err error) {
	defer begin[T](g, OpReduce, root, len(buf)).end(&err)
	if err := g.has(root); err != nil {
		return err
	}
	n := g.Size()
	me := (g.me - root + n) % n // the place in the tree; the root's is 0
	in := room[T](g, len(buf))
	for bit := 1; bit < n; bit <<= 1 {
		if me&bit != 0 {
			return send(ctx, g, (me-bit+root)%n, buf)
		}
		if me+bit < n {
			if err := receive(ctx, g, (me+bit+root)%n, in); err != nil {
				return err
			}
			op(buf, in)
		}
	}
	return nil
}

// ringBytes is the length in bytes from which on AllReduce takes the ring: then the bytes on each
// link count more than the number of messages one after another.
const ringBytes = 32 << 10

// AllReduce combines the members' slices, all of one length, and puts the result into all of them,
// with the same bits at all members. Slices of less than 32 KiB take recursive doubling, after the
// members beyond a power of two have given theirs to others; longer ones a ring: reduce-scatter,
// then all-gather [Thakur05].
func AllReduce[T Element](ctx context.Context, g *Group, buf []T, op Op[T]) (err error) {
	defer begin[T](g, OpAllReduce, -1, len(buf)).end(&err)
	switch n := g.Size(); {
	case n == 1:
		return nil
	case len(buf) >= n && sizeOf(buf) >= ringBytes:
		return allReduceRing(ctx, g, buf, op)
	default:
		return allReduceDoubling(ctx, g, buf, op)
	}
}

// allReduceDoubling is AllReduce by recursive doubling.
func allReduceDoubling[T Element](ctx context.Context, g *Group, buf []T, op Op[T]) error {
	n := g.Size()
	in := room[T](g, len(buf))
	core := 1
	for 2*core <= n {
		core *= 2
	}
	// The core is the greatest power of two members. A member beyond it gives its slice to a member of
	// the core, and gets the result from it.
	if g.me >= core {
		if err := send(ctx, g, g.me-core, buf); err != nil {
			return err
		}
		return receive(ctx, g, g.me-core, buf)
	}
	extra := g.me + core
	if extra < n {
		if err := receive(ctx, g, extra, in); err != nil {
			return err
		}
		op(buf, in)
	}
	for bit := 1; bit < core; bit <<= 1 {
		if err := exchange(ctx, g, g.me^bit, buf, g.me^bit, in); err != nil {
			return err
		}
		if g.me&bit == 0 {
			op(buf, in)
		} else { // both combine in the same order, so that both round alike
			op(in, buf)
			copy(buf, in)
		}
	}
	if extra < n {
		return send(ctx, g, extra, buf)
	}
	return nil
}

// allReduceRing is AllReduce by a ring: n-1 rounds that reduce and scatter, n-1 that gather.
func allReduceRing[T Element](ctx context.Context, g *Group, buf []T, op Op[T]) error {
	n := g.Size()
	next := (g.me + 1) % n
	prev := (g.me + n - 1) % n
	in := room[T](g, part(len(buf), n, 0).len())
	at := func(i int) []T {
		s := part(len(buf), n, (i%n+n)%n)
		return buf[s.from:s.to]
	}
	for step := range n - 1 {
		out := at(g.me - step)
		sum := at(g.me - step - 1)
		if err := exchange(ctx, g, next, out, prev, in[:len(sum)]); err != nil {
			return err
		}
		op(sum, in[:len(sum)])
	}
	for step := range n - 1 {
		if err := exchange(ctx, g, next, at(g.me+1-step), prev, at(g.me-step)); err != nil {
			return err
		}
	}
	return nil
}

// A span is a part of a slice.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// part returns the i-th of n parts of nearly equal length; the first parts are the longest.
func part(length, n, i int) span {
	each := length / n
	more := length % n
	from := i*each + min(i, more)
	to := from + each
	if i < more {
		to++
	}
	return span{from, to}
}
