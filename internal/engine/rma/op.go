package rma

import (
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// Kind says what an Op does.
type Kind uint8

// The kinds of operations.
const (
	Attach Kind = iota // find the region called Name at Peer
	Push               // write Buf at Off, or update the words there by Code with those of Buf
	Pull               // read into Buf from Off
	Atomic             // update the word at Off by Code with A and B
	Flush              // wait until everything before has been done
	IPush              // put Buf, from Off on, into the mailbox Region, with the tag A
	Await              // wait until something has arrived in our mailbox Region
)

// An Op is one operation on a peer's memory. The caller fills in the first
// group of fields, lends the Op to the engine, and gets it back when it is
// Done.
type Op struct {
	Kind   Kind
	Peer   int
	Name   string // Attach
	Region uint32
	Key    uint64
	Off    uint64
	Buf    []byte
	Code   wire.Code
	A, B   uint64

	// Entry and Mode say to which ring an IPush goes, and how; see wire.IPush.
	Entry uint16
	Mode  uint8

	// Lock and Epoch say under which lock the memory is accessed, if it is guarded.
	Lock, Epoch uint64

	// Owner is the caller's, untouched.
	Owner any

	Done  bool
	Err   error
	Value uint64 // Atomic: what was there before; IPush: the ticket of the message's last record
	Found Found  // Attach

	id    uint32
	turn  uint32 // while it waits to begin: its number in the queue to the peer
	begun bool   // the request is on its way
	got   int    // Pull: bytes received
	link  list.Link[Op]
}

// Found describes a region that was attached.
type Found struct {
	Region   uint32
	Key      uint64
	Size     int
	Mem      uint32 // shared memory that holds it, or 0
	ReadOnly bool
}

// A table gives operations the numbers by which answers name them. A number
// holds a slot and a count of the slot's uses, so that late answers to an
// operation that was given up are not taken for another's.
type table struct {
	ops  []*Op
	uses []uint32
	free []uint32
}

const slotBits = 16

// add gives an operation a number.
func (t *table) add(op *Op) {
	if len(t.free) == 0 {
		t.free = append(t.free, uint32(len(t.ops)))
		t.ops = append(t.ops, nil)
		t.uses = append(t.uses, 0)
	}
	slot := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.uses[slot]++
	t.ops[slot] = op
	op.id = t.uses[slot]<<slotBits | slot
}

// get returns the operation of a number, or nil.
func (t *table) get(id uint32) *Op {
	slot := id & (1<<slotBits - 1)
	if int(slot) >= len(t.ops) || t.ops[slot] == nil || t.ops[slot].id != id {
		return nil
	}
	return t.ops[slot]
}

// remove frees the number of an operation.
func (t *table) remove(op *Op) {
	slot := op.id & (1<<slotBits - 1)
	t.ops[slot] = nil
	t.free = append(t.free, slot)
}
