package mpi

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
)

// On the board, an operation with a length for each member has as many turns as its longest part needs: each member
// says in its turn whether it has more, and all read that. A part, one for all members or one for each, begins with
// what it consists of:
//
//	offset  field
//	0       kind of the elements, 4 bytes
//	4       size of an element, 4 bytes
//	8       bytes of the whole part, 8 bytes
//	16      the next ones of these
const atPart = 16

// parted returns how many bytes of a part a turn has in a row, and in a slot, if there are some parts; the latter may
// be negative.
func parted(parts int) (row, slot int) {
	return (roomOnBoard/parts - atPart) &^ 7, (roomInSlot/parts - atPart) &^ 7
}

// beginVaried is of GatherV, ScatterV, AllGatherV and AllToAllV.
func (k *call) beginVaried() error {
	n := k.c.group.n
	root := shapes[k.op].rooted && k.c.me != k.root
	k.outs = k.outs[:0]
	k.ins = k.ins[:0]
	switch {
	case k.src.each == nil && k.op != OpScatter && k.op != OpAllToAll:
		k.outs = append(k.outs, k.flatten(&k.src.all))
	case !root:
		if err := k.divide(&k.src, n, 0); err != nil {
			return err
		}
		for i := range k.src.each {
			k.outs = append(k.outs, k.flatten(&k.src.each[i]))
		}
	}
	switch {
	case k.op == OpScatter:
		k.ins = append(k.ins, k.flatten(&k.dst.all))
	case !root:
		if err := k.divide(&k.dst, n, 0); err != nil {
			return err
		}
		for i := range k.dst.each {
			k.ins = append(k.ins, k.flatten(&k.dst.each[i]))
		}
	}
	k.turns(0, 1, 1)
	k.needAll()
	return nil
}

// longest returns how many bytes the longest part has that this member writes.
func (k *call) longest() (n int) {
	for i := range k.outs {
		n = max(n, len(k.outs[i].b))
	}
	return n
}

// roomVaried returns how much room this member needs in a turn.
func (k *call) roomVaried() int {
	if len(k.outs) == 0 {
		return 0
	}
	row, slot := parted(len(k.outs))
	if k.longest()-k.round*row <= slot {
		return roomInSlot
	}
	return roomOnBoard
}

func (k *call) writeVaried(mine []byte, _, _ int) {
	if len(k.outs) == 0 {
		return
	}
	row, each := parted(len(k.outs))
	if len(mine) >= roomOnBoard {
		each = row
	}
	from := k.round * row
	for i := range k.outs {
		b := &k.outs[i]
		at := mine[i*(atPart+each):]
		binary.LittleEndian.PutUint32(at, uint32(b.kind))
		binary.LittleEndian.PutUint32(at[4:], uint32(b.size))
		binary.LittleEndian.PutUint64(at[8:], uint64(len(b.b)))
		if from < len(b.b) {
			copy(at[atPart:][:each], b.b[from:])
		}
	}
	if k.longest()-from > each {
		k.c.board.more(k)
	}
}

func (k *call) readVaried(_, _ int) (next phase, err error) {
	next = reading
	for i := range k.c.group.n {
		theirs, more := k.on(i)
		if more {
			next = writing
		}
		switch {
		case k.op == OpScatter && i != k.root || len(k.ins) == 0:
		case k.op == OpScatter:
			err = k.readPart(&k.ins[0], i, theirs, k.c.me, k.c.group.n)
		case k.op == OpAllToAll:
			err = k.readPart(&k.ins[i], i, theirs, k.c.me, k.c.group.n)
		default:
			err = k.readPart(&k.ins[i], i, theirs, 0, 1)
		}
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

// readPart reads a part of some that a member has written.
func (k *call) readPart(into *Buffer, member int, theirs []byte, part, parts int) error {
	row, each := parted(parts)
	if len(theirs) >= roomOnBoard {
		each = row
	}
	at := theirs[part*(atPart+each):]
	h := k.head
	h.kind = reflect.Kind(binary.LittleEndian.Uint32(at))
	h.size = binary.LittleEndian.Uint32(at[4:])
	n := int(min(binary.LittleEndian.Uint64(at[8:]), math.MaxInt))
	if err := k.compare(k.c.group.at(member), &h, n, into); err != nil {
		return err
	}
	if from := k.round * row; from < len(into.b) {
		copy(into.b[from:], at[atPart:][:each])
	}
	return nil
}

// keep returns the lists of buffers of a call that ends, for a later one.
func (k *call) keep() (outs, ins []Buffer) {
	clear(k.outs)
	clear(k.ins)
	return slices.Delete(k.outs, 0, len(k.outs)), slices.Delete(k.ins, 0, len(k.ins))
}
