package mpi

import "context"

// The operations on the board. What a member writes there is read by all others, in the order of the members if it is
// combined.

func (k *call) boardBarrier(context.Context) error {
	return k.turns(0, 1, func([]byte, int, int) {}, func(int, int) {})
}

func (k *call) boardBroadcast(context.Context) error {
	b := k.flatten(&k.src.all)
	err := k.turns(len(b.b), roomOnBoard, func(mine []byte, from, to int) {
		if k.c.me == k.root {
			copy(mine, b.b[from:to])
		}
	}, func(from, to int) {
		if k.c.me != k.root {
			copy(b.b[from:to], k.on(k.root))
		}
	})
	if err == nil && k.src.all.at != nil && k.c.me != k.root {
		k.src.all.unpack(b.b)
	}
	return err
}

// combined puts into dst what the first members have in their places at an offset, combined.
func (k *call) combined(dst []byte, at, members int) {
	copy(dst, k.on(0)[at:])
	for i := 1; i < members; i++ {
		k.combine.apply(dst, k.on(i)[at:at+len(dst)])
	}
}

// boardReduce is Reduce, Scan and Exscan.
func (k *call) boardReduce(context.Context) error {
	b := k.src.all.b
	members := k.c.group.n
	switch {
	case k.op == OpScan:
		members = k.c.me + 1
	case k.op == OpExscan:
		members = k.c.me
	case k.c.me != k.root:
		members = 0
	}
	return k.turns(len(b), roomOnBoard, func(mine []byte, from, to int) { copy(mine, b[from:to]) },
		func(from, to int) {
			if members > 0 {
				k.combined(b[from:to], 0, members)
			}
		})
}

// shortOnBoard is up to how many bytes each member combines all elements: more are divided among the members.
const shortOnBoard = 4 << 10

func (k *call) boardAllReduce(context.Context) error {
	b := k.src.all
	n := k.c.group.n
	if n == 2 || len(b.b) <= shortOnBoard {
		return k.turns(len(b.b), roomOnBoard, func(mine []byte, from, to int) { copy(mine, b.b[from:to]) },
			func(from, to int) { k.combined(b.b[from:to], 0, n) })
	}
	size := b.size
	var failed error
	err := k.turns(len(b.b), roomOnBoard, func(mine []byte, from, to int) { copy(mine, b.b[from:to]) },
		func(from, to int) {
			if failed != nil {
				return
			}
			part := func(i int) (first, last int) {
				first, last = share((to-from)/size, n, i)
				return first * size, last * size
			}
			first, last := part(k.c.me)
			k.combined(b.b[from+first:from+last], first, n)
			copy(k.on(k.c.me)[first:], b.b[from+first:from+last])
			if failed = k.meet(); failed != nil {
				return
			}
			for i := range n {
				if first, last := part(i); i != k.c.me {
					copy(b.b[from+first:from+last], k.on(i)[first:last])
				}
			}
		})
	if err == nil {
		err = failed
	}
	return err
}

// boardGather is Gather and AllGather.
func (k *call) boardGather(context.Context) error {
	n := k.c.group.n
	all := k.op == OpAllGather || k.op == OpSplit || k.c.me == k.root
	src := k.flatten(&k.src.all)
	if all {
		if err := k.divide(&k.dst, n, src.count()); err != nil {
			return err
		}
	}
	return k.turns(len(src.b), roomOnBoard, func(mine []byte, from, to int) { copy(mine, src.b[from:to]) },
		func(from, to int) {
			for i := range n {
				if all {
					copy(k.dst.flat.b[i*len(src.b)+from:i*len(src.b)+to], k.on(i))
				}
			}
		})
}

// spread writes the same piece of the parts of all members into this member's place.
func (k *call) spread(mine []byte, parts []byte, each, from, to int) {
	for i := range k.c.group.n {
		copy(mine[i*(to-from):], parts[i*each+from:i*each+to])
	}
}

func (k *call) boardScatter(context.Context) error {
	n := k.c.group.n
	if k.c.me == k.root {
		if err := k.divide(&k.src, n, k.dst.all.count()); err != nil {
			return err
		}
	}
	k.dst.flat = k.flatten(&k.dst.all)
	dst := k.dst.flat.b
	return k.turns(len(dst), roomOnBoard/n, func(mine []byte, from, to int) {
		if k.c.me == k.root {
			k.spread(mine, k.src.flat.b, len(dst), from, to)
		}
	}, func(from, to int) { copy(dst[from:to], k.on(k.root)[k.c.me*(to-from):]) })
}

func (k *call) boardAllToAll(context.Context) error {
	if err := k.divideBoth(); err != nil {
		return err
	}
	n := k.c.group.n
	each := k.dst.n * k.dst.all.size
	return k.turns(each, roomOnBoard/n,
		func(mine []byte, from, to int) { k.spread(mine, k.src.flat.b, each, from, to) },
		func(from, to int) {
			for i := range n {
				copy(k.dst.flat.b[i*each+from:i*each+to], k.on(i)[k.c.me*(to-from):])
			}
		})
}

func (k *call) boardReduceScatter(context.Context) error {
	n := k.c.group.n
	dst := k.dst.all
	if err := k.divide(&k.src, n, dst.count()); err != nil {
		return err
	}
	return k.turns(len(dst.b), roomOnBoard/n,
		func(mine []byte, from, to int) { k.spread(mine, k.src.flat.b, len(dst.b), from, to) },
		func(from, to int) { k.combined(dst.b[from:to], k.c.me*(to-from), n) })
}
