package coll

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// An Operation names one of the operations of a group.
type Operation uint8

// The operations, as they stand in a [Call] and in errors.
const (
	OpPointToPoint Operation = iota // Send, Receive and Exchange, which concern two members only
	OpBarrier
	OpBroadcast
	OpReduce
	OpAllReduce
	OpGather
	OpScatter
	OpAllGather
	OpAllToAll
	OpAllToAllV
	operations
)

var operationNames = [operations]string{
	"Send, Receive or Exchange", "Barrier", "Broadcast", "Reduce", "AllReduce", "Gather", "Scatter", "AllGather",
	"AllToAll", "AllToAllV",
}

// String returns the name of the function, such as AllReduce.
func (o Operation) String() string {
	if o < operations {
		return operationNames[o]
	}
	return fmt.Sprintf("operation of kind %d", uint8(o))
}

// A Call describes an operation as a member has called it. The calls of two members belong together
// if their Calls are equal.
type Call struct {
	Op     Operation
	Number uint32       // counts the group's operations from 1; 0 for Send, Receive and Exchange
	Age    int          // the group's generation
	Root   int          // the root's place, or -1
	Type   reflect.Kind // of the elements
	Length int          // elements in the slice that must have the same length at all members
}

// String describes the call in words.
func (c Call) String() string {
	s := c.Op.String()
	if c.Number != 0 {
		s += fmt.Sprintf(" (operation %d)", c.Number)
	}
	if c.Root >= 0 && c.Number != 0 {
		s += fmt.Sprintf(" with root %d", c.Root)
	}
	s += fmt.Sprintf(" of %d × %v", c.Length, c.Type)
	if c.Age > 0 {
		s += fmt.Sprintf(", in generation %d of the group", c.Age)
	}
	return s
}

// ErrMismatch says that members have called operations that do not belong together; see MismatchError.
var ErrMismatch = errors.New("coll: members have called operations that do not belong together")

// A MismatchError reports that two members have called operations that do not belong together. It
// matches ErrMismatch.
type MismatchError struct {
	Rank   int  // the other member's rank
	Mine   Call // what this member has called
	Theirs Call // what the other member has called
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("coll: this rank has called %v, and rank %d %v: all members must call the same", e.Mine, e.Rank,
		e.Theirs)
}

// Is makes every MismatchError match ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// A call is the header that goes ahead of each slice, so that a member that has called something
// else notices.
type call struct {
	op     Operation
	elem   reflect.Kind
	seq    uint32
	root   int32
	age    uint32
	length uint64
}

// The header of a message, little endian:
//
//	offset  field
//	0       operation
//	1       type of the elements
//	2       1 if the slice is the next message, 0 if it follows in this one
//	3       zero
//	4       number of the operation, 4 bytes
//	8       root, 4 bytes
//	12      generation, 4 bytes
//	16      length in elements, 8 bytes
const (
	headSize = 24
	apart    = 1 // in byte 2: the slice is the next message
)

// inline is the length in bytes of the longest slice that travels in the message of its header. A
// longer slice is a message of its own, which saves a copy.
const inline = 1 << 10

// put writes the header.
func (c call) put(b []byte, form byte) {
	_ = b[headSize-1]
	b[0] = byte(c.op)
	b[1] = byte(c.elem)
	b[2] = form
	b[3] = 0
	binary.LittleEndian.PutUint32(b[4:], c.seq)
	binary.LittleEndian.PutUint32(b[8:], uint32(c.root))
	binary.LittleEndian.PutUint32(b[12:], c.age)
	binary.LittleEndian.PutUint64(b[16:], c.length)
}

// parseCall reads a header. It reports false if b does not begin with one.
func parseCall(b []byte) (c call, form byte, ok bool) {
	if len(b) < headSize || b[2] > apart || b[2] == apart && len(b) > headSize {
		return c, 0, false
	}
	return call{
		op: Operation(b[0]), elem: reflect.Kind(b[1]),
		seq: binary.LittleEndian.Uint32(b[4:]), root: int32(binary.LittleEndian.Uint32(b[8:])),
		age: binary.LittleEndian.Uint32(b[12:]), length: binary.LittleEndian.Uint64(b[16:]),
	}, b[2], true
}

// public returns the call in its exported form.
func (c call) public() Call {
	return Call{Op: c.op, Number: c.seq, Age: int(c.age), Root: int(c.root), Type: c.elem, Length: int(c.length)}
}

// compare returns an error unless the member rank has called theirs where this member has called c,
// and both are equal.
func (c call) compare(rank int, theirs call) error {
	if c == theirs {
		return nil
	}
	if same := theirs; c.length != theirs.length {
		if same.length = c.length; c == same {
			return &LengthError{c.op, rank, int(theirs.length), int(c.length)}
		}
	}
	return &MismatchError{Rank: rank, Mine: c.public(), Theirs: theirs.public()}
}
