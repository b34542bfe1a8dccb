package mpi

import "context"

// ReduceScatter combines the members' slices src, which have one part of len(dst) elements for each member, and gives
// each member its part of the result (MPI_Reduce_scatter_block). Each member combines its own part.
func ReduceScatter[T any](ctx context.Context, c *Comm, src, dst []T, op Op[T]) error {
	return c.scatteringReduced(Of(src), Of(dst), on(op)).do(ctx)
}

// StartReduceScatter begins a ReduceScatter (MPI_Ireduce_scatter_block).
func StartReduceScatter[T any](c *Comm, src, dst []T, op Op[T]) (*Request, error) {
	return c.scatteringReduced(Of(src), Of(dst), on(op)).start()
}

func (c *Comm) scatteringReduced(src, dst Buffer, op combine) plan {
	return c.plan(OpReduceScatter, -1, src, src.count(), func(ctx context.Context, k *call) error {
		return k.divided(src, dst.count(), func(parts []Buffer) error { return k.scatterReduced(ctx, parts, dst, op) })
	})
}

// ReduceScatterV is ReduceScatter with a length for each member: member i gets the counts[i] elements of the result
// that lie behind those of the members before it (MPI_Reduce_scatter).
func ReduceScatterV[T any](ctx context.Context, c *Comm, src []T, counts []int, dst []T, op Op[T]) error {
	return c.scatteringReducedV(Of(src), Parts(src, counts), Of(dst), on(op)).do(ctx)
}

// StartReduceScatterV begins a ReduceScatterV (MPI_Ireduce_scatter).
func StartReduceScatterV[T any](c *Comm, src []T, counts []int, dst []T, op Op[T]) (*Request, error) {
	return c.scatteringReducedV(Of(src), Parts(src, counts), Of(dst), on(op)).start()
}

func (c *Comm) scatteringReducedV(src Buffer, parts []Buffer, dst Buffer, op combine) plan {
	return c.plan(OpReduceScatter, -1, src, src.count(), func(ctx context.Context, k *call) error {
		if err := k.each(parts); err != nil {
			return err
		}
		return k.scatterReduced(ctx, parts, dst, op)
	})
}

// scatterReduced combines this member's part in dst.
func (k *call) scatterReduced(ctx context.Context, parts []Buffer, dst Buffer, op combine) error {
	if err := k.want(dst.count(), parts[k.c.me].count()); err != nil {
		return err
	}
	copy(dst.b, parts[k.c.me].b)
	parts[k.c.me] = dst
	return k.reduceParts(ctx, func(i int) Buffer { return parts[i] }, op)
}

// reduceParts leaves in this member's part what all members have of it, combined in the order of the ranks: each member
// sends each other one its part. They arrive from the next member on, so that not all send to the same one: first those
// of the members behind this one, then those of the members before it.
func (k *call) reduceParts(ctx context.Context, part func(i int) Buffer, op combine) error {
	n := k.c.group.n
	me := k.c.me
	mine := part(me)
	m := newRoom()
	defer m.put()
	each := roomFor(mine)
	memory := m.get(2 * each)
	in := mine.in(memory)
	before := mine.in(memory[each:]) // of the members before this one
	last := Buffer{}                 // what has arrived and is not combined
	add := func(step int) {
		switch from := (me + step) % n; {
		case last.b == nil:
		case from > me:
			op(mine.b, in.b)
		case from > 0:
			op(before.b, in.b)
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
		op(before.b, mine.b)
		copy(mine.b, before.b)
	}
	return nil
}

// Scan combines, at each member, the slices of the members up to this one into its slice. It takes ⌈log2 n⌉ rounds.
func Scan[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	return c.scanning(OpScan, Of(s), on(op)).do(ctx)
}

// StartScan begins a Scan (MPI_Iscan).
func StartScan[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	return c.scanning(OpScan, Of(s), on(op)).start()
}

// Exscan is Scan without this member's own slice. The slice of member 0 stays what it is.
func Exscan[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	return c.scanning(OpExscan, Of(s), on(op)).do(ctx)
}

// StartExscan begins an Exscan (MPI_Iexscan).
func StartExscan[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	return c.scanning(OpExscan, Of(s), on(op)).start()
}

func (c *Comm) scanning(o Operation, b Buffer, op combine) plan {
	return c.plan(o, -1, b, b.count(), func(ctx context.Context, k *call) error { return k.scan(ctx, b, op) })
}

// scan doubles, in each round, of how many members up to this one the sum is.
func (k *call) scan(ctx context.Context, b Buffer, op combine) error {
	m := newRoom()
	defer m.put()
	memory := m.get(4 * roomFor(b))
	sum := b.in(memory)
	left := b.in(memory[3*roomFor(b):])
	in := b.in(memory[roomFor(b):])
	before := b.in(memory[2*roomFor(b):]) // the sum without this member's slice
	copy(sum.b, b.b)
	me := k.c.me
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
			op(left.b, before.b)
			copy(before.b, left.b)
		} else {
			copy(before.b, in.b)
		}
		op(in.b, sum.b)
		copy(sum.b, in.b)
	}
	switch {
	case k.head.op == OpScan:
		copy(b.b, sum.b)
	case me > 0:
		copy(b.b, before.b)
	}
	return nil
}
