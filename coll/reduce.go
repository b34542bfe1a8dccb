package coll

import (
	"cmp"
	"context"
)

// An Op combines two slices of one length, element by element, into the first. It
// must be associative and commutative, as far as rounding allows.
type Op[T Element] func(dst, src []T)

// Sum adds.
func Sum[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

// Prod multiplies.
func Prod[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] *= src[i]
	}
}

// Min keeps the smaller.
func Min[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = min(dst[i], src[i])
	}
}

// Max keeps the larger.
func Max[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], src[i])
	}
}

// Reduce combines the members' slices into that of root, a member's place. The
// others' are changed, too, and mean nothing afterwards. It goes up a binomial
// tree.
func Reduce[T Element](ctx context.Context, g *Group, root int, buf []T, op Op[T]) (err error) {
	defer begin[T](g, OpReduce, root, len(buf)).end(&err)
	if err := g.has(root); err != nil {
		return err
	}
	n := g.Size()
	me := (g.me - root + n) % n // root is 0
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

// ringBytes is from which length on an AllReduce goes round a ring: then what each
// link carries counts, not how many messages follow each other.
const ringBytes = 32 << 10

// AllReduce combines the members' slices; all get the result. Short ones take
// recursive doubling (with the members beyond a power of two folded in first),
// long ones a ring: reduce-scatter, then all-gather (Rabenseifner; Thakur,
// Rabenseifner and Gropp 2005). All members get the same bits.
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

func allReduceDoubling[T Element](ctx context.Context, g *Group, buf []T, op Op[T]) error {
	n, in := g.Size(), room[T](g, len(buf))
	core := 1
	for 2*core <= n {
		core *= 2
	}
	// Members beyond the core give theirs to one in it, and get the result.
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
		} else { // in the same order at both, or rounding would differ
			op(in, buf)
			copy(buf, in)
		}
	}
	if extra < n {
		return send(ctx, g, extra, buf)
	}
	return nil
}

func allReduceRing[T Element](ctx context.Context, g *Group, buf []T, op Op[T]) error {
	n := g.Size()
	next, prev := (g.me+1)%n, (g.me+n-1)%n
	in := room[T](g, part(len(buf), n, 0).len())
	at := func(i int) []T {
		s := part(len(buf), n, (i%n+n)%n)
		return buf[s.from:s.to]
	}
	for step := range n - 1 {
		out, sum := at(g.me-step), at(g.me-step-1)
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

// span is part of a slice.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// part returns the i-th of n nearly equal parts of a slice; the first are the
// longest.
func part(length, n, i int) span {
	each, more := length/n, length%n
	from := i*each + min(i, more)
	to := from + each
	if i < more {
		to++
	}
	return span{from, to}
}
