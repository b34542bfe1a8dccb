package mpi

import "context"

// gather is Gather: each member sends to the root.
func (k *call) gather(ctx context.Context) error {
	if k.c.me != k.root {
		return k.sendTo(ctx, k.root, k.src.all)
	}
	if err := k.divide(&k.dst, k.c.group.n, k.src.all.count()); err != nil {
		return err
	}
	for i := range k.c.group.n {
		part := k.dst.of(i)
		err := error(nil)
		if i == k.root {
			err = k.copyPart(&part, &k.src.all)
		} else {
			err = k.receiveFrom(ctx, i, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scatter is Scatter: the root sends to each member.
func (k *call) scatter(ctx context.Context) error {
	if k.c.me != k.root {
		return k.receiveFrom(ctx, k.root, k.dst.all)
	}
	if err := k.divide(&k.src, k.c.group.n, k.dst.all.count()); err != nil {
		return err
	}
	for i := range k.c.group.n {
		part := k.src.of(i)
		err := error(nil)
		if i == k.root {
			err = k.copyPart(&k.dst.all, &part)
		} else {
			err = k.sendTo(ctx, i, part)
		}
		if err != nil {
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
	f := k.flatten(src)
	dst.unpack(f.b)
	return nil
}

// allGatherRing is AllGather round a ring.
func (k *call) allGatherRing(ctx context.Context) error {
	if err := k.divide(&k.dst, k.c.group.n, k.src.all.count()); err != nil {
		return err
	}
	mine := k.dst.of(k.c.me)
	if err := k.copyPart(&mine, &k.src.all); err != nil {
		return err
	}
	return k.ring(ctx, k.dst.of)
}

// allGatherBruck is AllGather by Bruck's algorithm: ⌈log2 n⌉ messages one after another [Bruck97].
func (k *call) allGatherBruck(ctx context.Context) error {
	n := k.c.group.n
	me := k.c.me
	size := k.src.all.count()
	if err := k.divide(&k.dst, n, size); err != nil {
		return err
	}
	bytes := k.src.all.bytes()
	have := k.like(&k.src.all, n*bytes) // the parts of the members me, me+1, …
	k.src.all.pack(have.b)
	for bit := 1; bit < n; bit <<= 1 {
		some := min(bit, n-bit) * size
		err := k.exchange(ctx, (me-bit+n)%n, have.cut(0, some), (me+bit)%n, have.cut(bit*size, bit*size+some))
		if err != nil {
			return err
		}
	}
	dst := k.dst.flat.b
	copy(dst[me*bytes:], have.b)
	copy(dst[:me*bytes], have.b[len(dst)-me*bytes:])
	return nil
}
