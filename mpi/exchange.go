package mpi

import "context"

// divideBoth divides src and dst of an AllToAll. InPlace is what dst is at first.
func (k *call) divideBoth() error {
	n := k.c.group.n
	size := k.dst.all.count() / n
	if k.src.all.inPlace {
		k.src.all = k.like(&k.dst.all, k.dst.all.bytes())
		k.dst.all.pack(k.src.all.b)
	}
	if err := k.divide(&k.src, n, size); err != nil {
		return err
	}
	return k.divide(&k.dst, n, size)
}

// allToAll is AllToAll with all exchanges at once.
func (k *call) allToAll(ctx context.Context) error {
	if err := k.divideBoth(); err != nil {
		return err
	}
	n := k.c.group.n
	me := k.c.me
	from := k.src.of(me)
	to := k.dst.of(me)
	if err := k.copyPart(&to, &from); err != nil {
		return err
	}
	return k.exchanges(ctx, n-1,
		func(step int) (int, Buffer) { to := (me + step + 1) % n; return to, k.src.of(to) },
		func(step int) (int, Buffer) { from := (me - step - 1 + n) % n; return from, k.dst.of(from) })
}

// allToAllBruck is AllToAll by Bruck's algorithm [Bruck97]: in the round of a bit it forwards, by as many members, all
// parts in whose remaining distance that bit is set.
func (k *call) allToAllBruck(ctx context.Context) error {
	if err := k.divideBoth(); err != nil {
		return err
	}
	n := k.c.group.n
	me := k.c.me
	size := k.dst.n
	parts := k.like(&k.dst.flat, len(k.dst.flat.b))
	out := k.like(&k.dst.flat, len(k.dst.flat.b))
	in := k.like(&k.dst.flat, len(k.dst.flat.b))
	each := size * parts.size
	at := func(b []byte, i int) []byte { return b[i*each : (i+1)*each] }
	for i := range n { // part i has the distance i to go
		copy(at(parts.b, i), at(k.src.flat.b, (me+i)%n))
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
		copy(at(k.dst.flat.b, (me-i+n)%n), at(parts.b, i))
	}
	return nil
}

// gatherNeighbors is NeighborAllGather.
func (k *call) gatherNeighbors(ctx context.Context) error {
	return k.neighbors(ctx, k.src.all.count(), func(int) Buffer { return k.src.all })
}

// exchangeNeighbors is NeighborAllToAll.
func (k *call) exchangeNeighbors(ctx context.Context) error {
	to := len(k.c.topology.to)
	n := k.src.all.count() / max(to, 1)
	if err := k.divide(&k.src, to, n); err != nil {
		return err
	}
	return k.neighbors(ctx, n, k.src.of)
}

// neighbors exchanges with all neighbours at once. Each sends n elements, or what it has a buffer for. In a grid, what
// comes from the one side was sent to the other side: a member that is on both sides sends in that order, so it is
// received in that order.
func (k *call) neighbors(ctx context.Context, n int, out func(i int) Buffer) error {
	t := &k.c.topology
	if err := k.divide(&k.dst, len(t.from), n); err != nil {
		return err
	}
	across := 0
	if t.dims != nil {
		across = 1
	}
	return k.exchanges(ctx, max(len(t.to), len(t.from)),
		func(i int) (int, Buffer) {
			if i >= len(t.to) {
				return ProcNull, none
			}
			return t.to[i], out(i)
		},
		func(i int) (int, Buffer) {
			if i >= len(t.from) {
				return ProcNull, none
			}
			return t.from[i^across], k.dst.of(i ^ across)
		})
}
