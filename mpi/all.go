package mpi

import "context"

// bruckBytes is the length in bytes of the longest part for which fewer messages are worth more
// than fewer bytes.
const bruckBytes = 1 << 10

// AllGather collects the elements of src, as many of each member, in the dst of all members, in the
// order of the members. Up to 1 KiB of each take Bruck's algorithm, ⌈log2 n⌉ messages one after
// another [Bruck97]; more a ring. Src may be InPlace.
func (c *Comm) AllGather(ctx context.Context, src, dst Buffer) error {
	return c.gatherAll(ctx, OpAllGather, src, dst)
}

// StartAllGather begins an AllGather (MPI_Iallgather).
func (c *Comm) StartAllGather(src, dst Buffer) (*Request, error) {
	return c.gatheringAll(OpAllGather, src, dst).start()
}

func (c *Comm) gatherAll(ctx context.Context, op Operation, src, dst Buffer) error {
	return c.gatheringAll(op, src, dst).do(ctx)
}

func (c *Comm) gatheringAll(op Operation, src, dst Buffer) plan {
	src = c.inPlace(src, dst, true)
	return c.plan(op, -1, src, src.count(), func(ctx context.Context, k *call) error {
		if src.bytes() <= bruckBytes && dst.at == nil {
			return k.gatherAllBruck(ctx, src, dst)
		}
		return k.divided(dst, src.count(), func(parts []Buffer) error { return k.gatherAll(ctx, src, parts) })
	})
}

// gatherAll is AllGather by a ring.
func (k *call) gatherAll(ctx context.Context, src Buffer, dst []Buffer) error {
	if err := k.each(dst); err != nil {
		return err
	}
	if err := k.copyPart(&dst[k.c.me], &src); err != nil {
		return err
	}
	return k.ring(ctx, func(member int) Buffer { return dst[member] })
}

// gatherAllBruck is AllGather by Bruck's algorithm.
func (k *call) gatherAllBruck(ctx context.Context, src, dst Buffer) error {
	n := k.c.group.n
	me := k.c.me
	size := src.count()
	if err := k.want(dst.count(), n*size); err != nil {
		return err
	}
	m := newRoom()
	defer m.put()
	have := Buffer{b: m.get(n * src.bytes()), size: src.size, kind: src.kind} // the parts of the members me, me+1, …
	src.pack(have.b)
	for bit := 1; bit < n; bit <<= 1 {
		some := min(bit, n-bit) * size
		err := k.exchange(ctx, (me-bit+n)%n, have.cut(0, some), (me+bit)%n, have.cut(bit*size, bit*size+some))
		if err != nil {
			return err
		}
	}
	at := me * src.bytes()
	copy(dst.b[at:], have.b)
	copy(dst.b[:at], have.b[len(dst.b)-at:])
	return nil
}

// AllGatherV is AllGather with a length for each member: dst has a buffer for each.
func (c *Comm) AllGatherV(ctx context.Context, src Buffer, dst []Buffer) error {
	return c.gatheringAllV(src, dst).do(ctx)
}

// StartAllGatherV begins an AllGatherV (MPI_Iallgatherv).
func (c *Comm) StartAllGatherV(src Buffer, dst []Buffer) (*Request, error) {
	return c.gatheringAllV(src, dst).start()
}

func (c *Comm) gatheringAllV(src Buffer, dst []Buffer) plan {
	src = c.inPlaceOf(src, dst)
	return c.plan(OpAllGather, -1, src, vary, func(ctx context.Context, k *call) error {
		return k.gatherAll(ctx, src, dst)
	})
}

// AllToAll sends part j of this member's src to member j, and puts what member i sends into part i
// of dst. Both have one part for each member, all of one length. Parts of up to 256 bytes
// among more than 4 members take Bruck's algorithm [Bruck97]; others are all exchanged at once. With InPlace as src,
// the parts of dst are sent and replaced.
func (c *Comm) AllToAll(ctx context.Context, src, dst Buffer) error {
	return c.allToAll(src, dst).do(ctx)
}

// StartAllToAll begins an AllToAll (MPI_Ialltoall).
func (c *Comm) StartAllToAll(src, dst Buffer) (*Request, error) { return c.allToAll(src, dst).start() }

func (c *Comm) allToAll(src, dst Buffer) plan {
	return c.plan(OpAllToAll, -1, dst, dst.count(), func(ctx context.Context, k *call) error {
		n := c.group.n
		size := dst.count() / n
		if src.inPlace {
			m := newRoom()
			defer m.put()
			src = Buffer{b: m.get(dst.bytes()), size: dst.size, kind: dst.kind}
			dst.pack(src.b)
		}
		if n > 4 && size*dst.size <= bruckBytes/4 && src.at == nil && dst.at == nil {
			return k.allToAllBruck(ctx, src, dst, size)
		}
		return k.divided(src, size, func(from []Buffer) error {
			return k.divided(dst, size, func(to []Buffer) error { return k.allToAll(ctx, from, to) })
		})
	})
}

// AllToAllV is AllToAll with buffers for each member: member j gets src[j], and dst[i] is what member i sends. The
// buffers may have different types, if those of each pair are the same: so it is MPI_Alltoallw, too.
func (c *Comm) AllToAllV(ctx context.Context, src, dst []Buffer) error {
	return c.allToAllV(src, dst).do(ctx)
}

// StartAllToAllV begins an AllToAllV (MPI_Ialltoallv, MPI_Ialltoallw).
func (c *Comm) StartAllToAllV(src, dst []Buffer) (*Request, error) {
	return c.allToAllV(src, dst).start()
}

func (c *Comm) allToAllV(src, dst []Buffer) plan {
	return c.plan(OpAllToAll, -1, none, vary, func(ctx context.Context, k *call) error {
		if err := k.each(src); err != nil {
			return err
		}
		if err := k.each(dst); err != nil {
			return err
		}
		return k.allToAll(ctx, src, dst)
	})
}

func (k *call) allToAll(ctx context.Context, src, dst []Buffer) error {
	n := k.c.group.n
	me := k.c.me
	if err := k.copyPart(&dst[me], &src[me]); err != nil {
		return err
	}
	return k.exchanges(ctx, n-1,
		func(step int) (int, Buffer) { to := (me + step + 1) % n; return to, src[to] },
		func(step int) (int, Buffer) { from := (me - step - 1 + n) % n; return from, dst[from] })
}

// allToAllBruck is AllToAll by Bruck's algorithm: in the round of a bit it forwards, by as many
// members, all parts in whose remaining distance that bit is set.
func (k *call) allToAllBruck(ctx context.Context, src, dst Buffer, size int) error {
	n := k.c.group.n
	me := k.c.me
	if err := k.want(src.count(), n*size); err != nil {
		return err
	}
	if err := k.want(dst.count(), n*size); err != nil {
		return err
	}
	m := newRoom()
	defer m.put()
	all := Buffer{b: m.get(3 * len(dst.b)), size: dst.size, kind: dst.kind}
	parts := all.cut(0, n*size)
	out := all.cut(n*size, 2*n*size)
	in := all.cut(2*n*size, 3*n*size)
	each := size * dst.size
	at := func(b []byte, i int) []byte { return b[i*each : (i+1)*each] }
	for i := range n { // part i has the distance i to go
		copy(at(parts.b, i), at(src.b, (me+i)%n))
	}
	for bit := 1; bit < n; bit <<= 1 {
		some := 0
		for i := range n {
			if i&bit != 0 {
				copy(at(out.b, some), at(parts.b, i))
				some++
			}
		}
		err := k.exchange(ctx, (me+bit)%n, out.cut(0, some*size), (me-bit+n)%n, in.cut(0, some*size))
		if err != nil {
			return err
		}
		some = 0
		for i := range n {
			if i&bit != 0 {
				copy(at(parts.b, i), at(in.b, some))
				some++
			}
		}
	}
	for i := range n { // part i comes from the member i places before
		copy(at(dst.b, (me-i+n)%n), at(parts.b, i))
	}
	return nil
}
