package mpi

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"weft/extend"
	"weft/internal/mem"
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
//
// Long parts can stay where they are (see board_far.go), as each member decides for itself. What it shows then is a
// table of its parts: what each begins with, and its address.
const (
	atPart = 16
	inList = atPart + 8 // bytes of a part in the table
)

// shownPart is how many bytes a part has at least for which the parts of a member stay where they are.
const shownPart = 32 << 10

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
	if s := k.c.board; s.far && s.apart && k.longest() >= shownPart {
		k.shown = k.room(inList * len(k.outs))
		for i := range k.outs {
			at := k.shown[inList*i:]
			k.outs[i].putPart(at)
			binary.LittleEndian.PutUint64(at[atPart:], mem.Addr(k.outs[i].b))
		}
	}
	return nil
}

// putPart writes what a part begins with.
func (b *Buffer) putPart(at []byte) {
	binary.LittleEndian.PutUint32(at, uint32(b.kind))
	binary.LittleEndian.PutUint32(at[4:], uint32(b.size))
	binary.LittleEndian.PutUint64(at[8:], uint64(len(b.b)))
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
	if len(k.outs) == 0 || k.shown != nil {
		return 0
	}
	row, slot := parted(len(k.outs))
	if k.longest()-k.round*row <= slot {
		return roomInSlot
	}
	return roomOnBoard
}

func (k *call) writeVaried(mine []byte, _, _ int) {
	if k.shown != nil {
		k.c.board.show(k.shown)
		return
	}
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
		b.putPart(at)
		if from < len(b.b) {
			mem.Move(at[atPart:][:each], b.b[from:])
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
		shown := k.c.board.shows(i)
		k.leaves = k.leaves || shown
		if k.op == OpScatter && i != k.root || len(k.ins) == 0 {
			continue
		}
		into := &k.ins[0]
		part := k.c.me
		parts := k.c.group.n
		if k.op != OpScatter {
			into = &k.ins[i]
		}
		if k.op != OpScatter && k.op != OpAllToAll { // one for all members
			part = 0
			parts = 1
		}
		switch {
		case !shown:
			err = k.readPart(into, i, theirs, part, parts)
		case k.round == 0:
			err = k.readShown(into, i, part)
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
	if err := k.comparePart(member, at, into); err != nil {
		return err
	}
	if from := k.round * row; from < len(into.b) {
		mem.Move(into.b[from:], at[atPart:][:each])
	}
	return nil
}

// comparePart returns an error unless what a part of a member begins with belongs to the buffer for it.
func (k *call) comparePart(member int, at []byte, into *Buffer) error {
	h := k.head
	h.kind = reflect.Kind(binary.LittleEndian.Uint32(at))
	h.size = binary.LittleEndian.Uint32(at[4:])
	n := int(min(binary.LittleEndian.Uint64(at[8:]), math.MaxInt))
	return k.compare(k.c.group.at(member), &h, n, into)
}

// readShown reads a part that has stayed where it is.
func (k *call) readShown(into *Buffer, member, part int) error {
	if member == k.c.me {
		if err := k.comparePart(member, k.shown[inList*part:], into); err != nil {
			return err
		}
		copy(into.b, k.outs[part].b)
		return nil
	}
	var at [inList]byte
	table := k.c.board.placeOf(member, k.c.board.turn)
	if err := k.fetchFrom(table, at[:], member, inList*part); err != nil {
		return err
	}
	if err := k.comparePart(member, at[:], into); err != nil {
		return err
	}
	from := extend.Place{Process: table.Process, Address: binary.LittleEndian.Uint64(at[atPart:])}
	return k.fetchFrom(from, into.b, member, 0)
}

// keep returns the lists of buffers of a call that ends, for a later one.
func (k *call) keep() (outs, ins []Buffer) {
	clear(k.outs)
	clear(k.ins)
	return slices.Delete(k.outs, 0, len(k.outs)), slices.Delete(k.ins, 0, len(k.ins))
}
