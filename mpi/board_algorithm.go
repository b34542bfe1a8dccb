package mpi

import "weft/internal/mem"

// A way is how an operation is carried out on the board.
type way struct {
	begin func(k *call) error                               // says what the turns are
	write func(k *call, mine []byte, from, to int)          // bytes of the elements, to the others
	read  func(k *call, from, to int) (next phase, e error) // what the members have written; next is reading, or:
	// writing, if a turn follows that nobody knew of; sharing, if this member has changed what the others read next
}

// boardWays are the ways. What a member writes is read by others, in the order of the members if it is combined.
var boardWays = struct {
	barrier, broadcast, reduce, allReduce, gather, scatter, allToAll, reduceScatter, varied way
}{
	barrier:       way{begin: func(k *call) error { k.turns(0, 1, 0); k.needAll(); return nil }},
	broadcast:     way{(*call).beginBroadcast, (*call).writeOwn, (*call).readBroadcast},
	reduce:        way{(*call).beginReduce, (*call).writeOwn, (*call).readReduce},
	allReduce:     way{(*call).beginAllReduce, (*call).writeOwn, (*call).readAllReduce},
	gather:        way{(*call).beginGather, (*call).writeOwn, (*call).readGather},
	scatter:       way{(*call).beginScatter, (*call).writeParts, (*call).readScatter},
	allToAll:      way{(*call).beginAllToAll, (*call).writeParts, (*call).readAllToAll},
	reduceScatter: way{(*call).beginReduceScatter, (*call).writeParts, (*call).readReduceScatter},
	varied:        way{(*call).beginVaried, (*call).writeVaried, (*call).readVaried},
}

// turns divides total bytes among turns. This member writes so many times as many as a turn has of them.
func (k *call) turns(total, room, writes int) {
	size := max(int(k.head.size), 1)
	k.whole = total
	k.each = room / size * size
	if k.far {
		k.each = total
	}
	k.writes = writes
}

// needAll says that this member reads what all write, and needRoot that it reads what the root writes, unless it is the
// root.
func (k *call) needAll() { k.last = k.c.group.n }

func (k *call) needRoot() {
	if k.c.me != k.root {
		k.first = k.root
		k.last = k.root + 1
	}
}

// writeOwn writes the elements of src.
func (k *call) writeOwn(mine []byte, from, to int) { mem.Move(mine, k.src.flat.b[from:to]) }

// writeParts writes the same piece of the parts of all other members; for a reduction its own, too.
func (k *call) writeParts(mine []byte, from, to int) {
	for i := range k.c.group.n {
		if i != k.c.me || k.op == OpReduceScatter {
			mem.Move(mine[i*(to-from):], k.own(i, from, to))
		}
	}
}

// own returns a piece of what this member has for a member.
func (k *call) own(member, from, to int) []byte {
	at := member * (len(k.src.flat.b) / k.c.group.n)
	return k.src.flat.b[at+from : at+to]
}

func (k *call) beginBroadcast() error {
	k.src.flat = k.flatten(&k.src.all)
	writes := 0
	if k.c.me == k.root {
		writes = 1
	}
	k.turns(len(k.src.flat.b), roomOnBoard, writes)
	k.needRoot()
	return nil
}

func (k *call) readBroadcast(from, to int) (phase, error) {
	return reading, k.fetch(k.src.flat.b[from:to], k.root, 0)
}

// combined puts into dst what the first members have in their places at an offset, combined. Mine is what this member
// has: dst itself, or what is not in its place.
func (k *call) combined(dst, mine []byte, at, members int) error {
	if k.far {
		return k.combinedFar(dst, mine, at, members)
	}
	for i := range members {
		b := mine
		if i != k.c.me || len(mine) > 0 && &mine[0] == &dst[0] && i > 0 {
			b, _ = k.on(i)
			b = b[at : at+len(dst)]
		}
		if i > 0 {
			k.combine.apply(dst, b)
		} else {
			mem.Move(dst, b)
		}
	}
	return nil
}

// beginReduce is of Reduce, Scan and Exscan.
func (k *call) beginReduce() error {
	k.src.flat = k.src.all
	k.turns(len(k.src.flat.b), roomOnBoard, 1)
	switch {
	case k.op == OpScan:
		k.last = k.c.me + 1
	case k.op == OpExscan:
		k.last = k.c.me
	case k.c.me == k.root:
		k.needAll()
	}
	return nil
}

func (k *call) readReduce(from, to int) (phase, error) {
	return reading, k.combined(k.src.flat.b[from:to], k.src.flat.b[from:to], 0, k.last)
}

// shortOnBoard is up to how many bytes each member combines all elements: more are divided among the members.
const shortOnBoard = 4 << 10

func (k *call) beginAllReduce() error {
	k.src.flat = k.src.all
	k.turns(len(k.src.flat.b), roomOnBoard, 1)
	k.wide = k.far || k.c.group.n > 2 && k.whole > shortOnBoard
	k.needAll()
	return nil
}

func (k *call) readAllReduce(from, to int) (phase, error) {
	n := k.c.group.n
	dst := k.src.flat.b[from:to]
	if !k.wide {
		return reading, k.combined(dst, dst, 0, n)
	}
	size := k.src.all.size
	part := func(i int) (first, last int) {
		first, last = share(len(dst)/size, n, i)
		return first * size, last * size
	}
	if k.phase == reading {
		first, last := part(k.c.me)
		if err := k.combined(dst[first:last], dst[first:last], first, n); err != nil {
			return reading, err
		}
		if !k.far {
			mine, _ := k.on(k.c.me)
			mem.Move(mine[first:], dst[first:last])
		}
		return sharing, nil
	}
	for i := range n {
		if first, last := part(i); i != k.c.me {
			if err := k.fetch(dst[first:last], i, first); err != nil {
				return sharing, err
			}
		}
	}
	return reading, nil
}

// beginGather is of Gather and AllGather.
func (k *call) beginGather() error {
	k.src.flat = k.flatten(&k.src.all)
	k.turns(len(k.src.flat.b), roomOnBoard, 1)
	if k.op == OpGather && k.c.me != k.root {
		return nil
	}
	k.needAll()
	return k.divide(&k.dst, k.c.group.n, k.src.flat.count())
}

func (k *call) readGather(from, to int) (phase, error) {
	each := len(k.src.flat.b)
	for i := range k.c.group.n {
		dst := k.dst.flat.b[i*each+from : i*each+to]
		if i == k.c.me {
			mem.Move(dst, k.src.flat.b[from:to])
		} else if err := k.fetch(dst, i, 0); err != nil {
			return reading, err
		}
	}
	return reading, nil
}

func (k *call) beginScatter() error {
	n := k.c.group.n
	k.dst.flat = k.flatten(&k.dst.all)
	writes := 0
	if k.c.me == k.root {
		writes = n
		if err := k.divide(&k.src, n, k.dst.all.count()); err != nil {
			return err
		}
	}
	k.turns(len(k.dst.flat.b), roomOnBoard/n, writes)
	k.first = k.root
	k.last = k.root + 1
	return nil
}

func (k *call) readScatter(from, to int) (phase, error) {
	if k.c.me == k.root {
		mem.Move(k.dst.flat.b[from:to], k.own(k.c.me, from, to))
		return reading, nil
	}
	return reading, k.fetch(k.dst.flat.b[from:to], k.root, k.c.me*(to-from))
}

func (k *call) beginAllToAll() error {
	if err := k.divideBoth(); err != nil {
		return err
	}
	n := k.c.group.n
	k.turns(len(k.dst.flat.b)/n, roomOnBoard/n, n)
	k.needAll()
	return nil
}

func (k *call) readAllToAll(from, to int) (phase, error) {
	n := k.c.group.n
	each := len(k.dst.flat.b) / n
	for i := range n {
		dst := k.dst.flat.b[i*each+from : i*each+to]
		if i == k.c.me {
			mem.Move(dst, k.own(i, from, to))
		} else if err := k.fetch(dst, i, k.c.me*(to-from)); err != nil {
			return reading, err
		}
	}
	return reading, nil
}

func (k *call) beginReduceScatter() error {
	n := k.c.group.n
	if err := k.divide(&k.src, n, k.dst.all.count()); err != nil {
		return err
	}
	k.turns(len(k.dst.all.b), roomOnBoard/n, n)
	k.needAll()
	return nil
}

func (k *call) readReduceScatter(from, to int) (phase, error) {
	dst := k.dst.all.b[from:to]
	return reading, k.combined(dst, k.own(k.c.me, from, to), k.c.me*(to-from), k.c.group.n)
}
