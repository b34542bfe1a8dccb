package mpi

import "context"

// Gather collects the elements of src, as many of each member, at the root: there dst holds them in the order of the
// members. At other members dst is not used. At the root src may be InPlace.
func (c *Comm) Gather(ctx context.Context, src, dst Buffer, root int) error {
	return c.gathering(src, dst, root).do(ctx)
}

// StartGather begins a Gather (MPI_Igather).
func (c *Comm) StartGather(src, dst Buffer, root int) (*Request, error) {
	return c.gathering(src, dst, root).start()
}

func (c *Comm) gathering(src, dst Buffer, root int) plan {
	src = c.inPlace(src, dst, c.me == root)
	return c.plan(OpGather, root, src, src.count(), func(ctx context.Context, k *call) error {
		if c.me != root {
			return k.sendTo(ctx, root, src)
		}
		return k.divided(dst, src.count(), func(parts []Buffer) error { return k.gather(ctx, src, parts) })
	})
}

// inPlace returns this member's part of whole, if part is InPlace and that may be.
func (c *Comm) inPlace(part, whole Buffer, may bool) Buffer {
	if n := whole.count() / c.group.n; part.inPlace && may && whole.at == nil {
		return whole.cut(c.me*n, (c.me+1)*n)
	}
	return part
}

// inPlaceOf is inPlace for parts that are buffers.
func (c *Comm) inPlaceOf(part Buffer, parts []Buffer) Buffer {
	if part.inPlace && c.me < len(parts) {
		return parts[c.me]
	}
	return part
}

// divided calls f with a buffer that is divided into as many parts of n elements as there are members.
func (k *call) divided(b Buffer, n int, f func(parts []Buffer) error) error {
	return k.dividedAmong(k.c.group.n, b, n, f)
}

// dividedAmong is divided for another number of parts.
func (k *call) dividedAmong(many int, b Buffer, n int, f func(parts []Buffer) error) error {
	if err := b.check(); err != nil {
		return err
	}
	if err := k.want(b.count(), n*many); err != nil {
		return err
	}
	m := newRoom()
	defer m.put()
	all := b.flat(m)
	parts := make([]Buffer, many)
	for i := range parts {
		parts[i] = all.cut(i*n, (i+1)*n)
	}
	err := f(parts)
	if b.at != nil {
		b.unpack(all.b)
	}
	return err
}

// GatherV is Gather with a length for each member: at the root, dst has a buffer for each.
func (c *Comm) GatherV(ctx context.Context, src Buffer, dst []Buffer, root int) error {
	return c.gatheringV(src, dst, root).do(ctx)
}

// StartGatherV begins a GatherV (MPI_Igatherv).
func (c *Comm) StartGatherV(src Buffer, dst []Buffer, root int) (*Request, error) {
	return c.gatheringV(src, dst, root).start()
}

func (c *Comm) gatheringV(src Buffer, dst []Buffer, root int) plan {
	if c.me == root {
		src = c.inPlaceOf(src, dst)
	}
	return c.plan(OpGather, root, src, vary, func(ctx context.Context, k *call) error {
		if c.me != root {
			return k.sendTo(ctx, root, src)
		}
		return k.gather(ctx, src, dst)
	})
}

// gather is the part of the root.
func (k *call) gather(ctx context.Context, src Buffer, dst []Buffer) error {
	if err := k.each(dst); err != nil {
		return err
	}
	for i := range dst {
		if i == k.c.me {
			if err := k.copyPart(&dst[i], &src); err != nil {
				return err
			}
		} else if err := k.receiveFrom(ctx, i, dst[i]); err != nil {
			return err
		}
	}
	return nil
}

// each returns an error unless there is a buffer for each member, which can be used.
func (k *call) each(parts []Buffer) error { return k.eachOf(parts, k.c.group.n) }

// eachOf is each for another number of buffers.
func (k *call) eachOf(parts []Buffer, n int) error {
	if err := k.want(len(parts), n); err != nil {
		return err
	}
	for i := range parts {
		if err := parts[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// copyPart copies what a member sends to itself.
func (k *call) copyPart(dst, src *Buffer) error {
	if err := k.want(dst.count(), src.count()); err != nil {
		return err
	}
	if dst.bytes() == 0 || dst.at == nil && src.at == nil && &dst.b[0] == &src.b[0] {
		return nil
	}
	m := newRoom()
	defer m.put()
	f := src.flat(m)
	dst.unpack(f.b)
	return nil
}

// Scatter gives each member its part of the root's src, which holds one part for each member, in order. At other
// members src is not used. At the root dst may be InPlace.
func (c *Comm) Scatter(ctx context.Context, src, dst Buffer, root int) error {
	return c.scattering(src, dst, root).do(ctx)
}

// StartScatter begins a Scatter (MPI_Iscatter).
func (c *Comm) StartScatter(src, dst Buffer, root int) (*Request, error) {
	return c.scattering(src, dst, root).start()
}

func (c *Comm) scattering(src, dst Buffer, root int) plan {
	dst = c.inPlace(dst, src, c.me == root)
	return c.plan(OpScatter, root, dst, dst.count(), func(ctx context.Context, k *call) error {
		if c.me != root {
			return k.receiveFrom(ctx, root, dst)
		}
		return k.divided(src, dst.count(), func(parts []Buffer) error { return k.scatter(ctx, parts, dst) })
	})
}

// ScatterV is Scatter with a length for each member: at the root, src has a buffer for each.
func (c *Comm) ScatterV(ctx context.Context, src []Buffer, dst Buffer, root int) error {
	return c.scatteringV(src, dst, root).do(ctx)
}

// StartScatterV begins a ScatterV (MPI_Iscatterv).
func (c *Comm) StartScatterV(src []Buffer, dst Buffer, root int) (*Request, error) {
	return c.scatteringV(src, dst, root).start()
}

func (c *Comm) scatteringV(src []Buffer, dst Buffer, root int) plan {
	if c.me == root {
		dst = c.inPlaceOf(dst, src)
	}
	return c.plan(OpScatter, root, dst, vary, func(ctx context.Context, k *call) error {
		if c.me != root {
			return k.receiveFrom(ctx, root, dst)
		}
		return k.scatter(ctx, src, dst)
	})
}

// scatter is the part of the root.
func (k *call) scatter(ctx context.Context, src []Buffer, dst Buffer) error {
	if err := k.each(src); err != nil {
		return err
	}
	for i := range src {
		if i == k.c.me {
			if err := k.copyPart(&dst, &src[i]); err != nil {
				return err
			}
		} else if err := k.sendTo(ctx, i, src[i]); err != nil {
			return err
		}
	}
	return nil
}
