package mpi

import (
	"context"
	"math/bits"
)

// reduceTree is Reduce up a binomial tree whose root is member 0, so that elements are combined in the order of the
// ranks.
func (k *call) reduceTree(ctx context.Context) error {
	n := k.c.group.n
	me := k.c.me
	b := k.src.all
	in := k.like(&b, len(b.b))
	sum := b
	if me != k.root && me&1 == 0 && me+1 < n { // it combines, and keeps its slice
		sum = k.like(&b, len(b.b))
		copy(sum.b, b.b)
	}
	for bit := 1; bit < n; bit <<= 1 {
		if me&bit != 0 {
			if err := k.sendTo(ctx, me-bit, sum); err != nil || me != k.root {
				return err
			}
			return k.receiveFrom(ctx, 0, b)
		}
		if me+bit < n {
			if err := k.receiveFrom(ctx, me+bit, in); err != nil {
				return err
			}
			k.combine.apply(sum.b, in.b)
		}
	}
	if k.root != 0 {
		return k.sendTo(ctx, k.root, sum)
	}
	return nil
}

// allReduceDoubling is AllReduce by recursive doubling. Of 2^m + r members the first 2r are pairs, of which the second
// gives its slice to the first one, and gets the result from it.
func (k *call) allReduceDoubling(ctx context.Context) error {
	n := k.c.group.n
	me := k.c.me
	b := k.src.all
	core := 1 << (bits.Len(uint(n)) - 1)
	pairs := n - core
	paired := me < 2*pairs
	if paired && me&1 == 1 {
		if err := k.sendTo(ctx, me-1, b); err != nil {
			return err
		}
		return k.receiveFrom(ctx, me-1, b)
	}
	in := k.like(&b, len(b.b))
	place := me - pairs
	if paired {
		place = me / 2
		if err := k.receiveFrom(ctx, me+1, in); err != nil {
			return err
		}
		k.combine.apply(b.b, in.b)
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
			k.combine.apply(b.b, in.b)
		} else { // both combine in the same order
			k.combine.apply(in.b, b.b)
			copy(b.b, in.b)
		}
	}
	if paired {
		return k.sendTo(ctx, me+1, b)
	}
	return nil
}

// allReduceParts is AllReduce in which each member combines a part, and the parts go round a ring [Thakur05].
func (k *call) allReduceParts(ctx context.Context) error {
	b := k.src.all
	part := func(i int) Buffer { return b.cut(share(b.count(), k.c.group.n, i)) }
	if err := k.reduceParts(ctx, part); err != nil {
		return err
	}
	return k.ring(ctx, part)
}

// reduceScatter is ReduceScatter: each member combines its part, in dst.
func (k *call) reduceScatter(ctx context.Context) error {
	dst := k.dst.all
	if err := k.divide(&k.src, k.c.group.n, dst.count()); err != nil {
		return err
	}
	mine := k.src.of(k.c.me)
	if err := k.want(dst.count(), mine.count()); err != nil {
		return err
	}
	copy(dst.b, mine.b)
	return k.reduceParts(ctx, func(i int) Buffer {
		if i == k.c.me {
			return dst
		}
		return k.src.of(i)
	})
}

// reduceParts leaves in this member's part what all members have of it, combined in the order of the ranks: each member
// sends each other one its part. They arrive from the next member on, so that not all send to the same one: first those
// of the members behind this one, then those of the members before it.
func (k *call) reduceParts(ctx context.Context, part func(i int) Buffer) error {
	n := k.c.group.n
	me := k.c.me
	mine := part(me)
	in := k.like(&mine, len(mine.b))
	before := k.like(&mine, len(mine.b)) // of the members before this one
	last := Buffer{}                     // what has arrived and is not combined
	add := func(step int) {
		switch from := (me + step) % n; {
		case last.b == nil:
		case from > me:
			k.combine.apply(mine.b, in.b)
		case from > 0:
			k.combine.apply(before.b, in.b)
		}
	}
	err := k.exchanges(ctx, n-1,
		func(step int) (int, Buffer) { to := (me - step - 1 + n) % n; return to, part(to) },
		func(step int) (int, Buffer) {
			add(step)
			from := (me + step + 1) % n
			if last = in; from == 0 {
				last = before
			}
			return from, last
		})
	if err != nil {
		return err
	}
	add(n - 1)
	if me > 0 {
		k.combine.apply(before.b, mine.b)
		copy(mine.b, before.b)
	}
	return nil
}

// scan is Scan and Exscan. Each of ⌈log2 n⌉ rounds doubles of how many members up to this one the sum is.
func (k *call) scan(ctx context.Context) error {
	me := k.c.me
	b := k.src.all
	sum := k.like(&b, len(b.b))
	left := k.like(&b, len(b.b))
	in := k.like(&b, len(b.b))
	before := k.like(&b, len(b.b)) // the sum without this member's slice
	copy(sum.b, b.b)
	for bit := 1; bit < k.c.group.n; bit <<= 1 {
		to := me + bit
		from := me - bit
		if to >= k.c.group.n {
			to = ProcNull
		}
		if from < 0 {
			from = ProcNull
		}
		if err := k.exchange(ctx, to, sum, from, in); err != nil {
			return err
		}
		if from == ProcNull {
			continue
		}
		if bit > 1 {
			copy(left.b, in.b)
			k.combine.apply(left.b, before.b)
			copy(before.b, left.b)
		} else {
			copy(before.b, in.b)
		}
		k.combine.apply(in.b, sum.b)
		copy(sum.b, in.b)
	}
	switch {
	case k.op == OpScan:
		copy(b.b, sum.b)
	case me > 0:
		copy(b.b, before.b)
	}
	return nil
}
