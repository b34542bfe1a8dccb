package mpi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"weft/internal/match"
)

// An Operation names one of the collective operations.
type Operation uint8

// The operations, as they stand in a [Call] and in errors.
const (
	OpPointToPoint Operation = iota // sends and receives, which concern two members only
	OpBarrier
	OpBroadcast
	OpReduce
	OpAllReduce
	OpScan
	OpExscan
	OpReduceScatter
	OpGather
	OpScatter
	OpAllGather
	OpAllToAll
	OpNeighborAllGather
	OpNeighborAllToAll
	OpSplit
	OpWindow // Put, Get and Accumulate, which no other member calls
	operations
)

var operationNames = [operations]string{
	"Send or Recv", "Barrier", "Broadcast", "Reduce", "AllReduce", "Scan", "Exscan", "ReduceScatter", "Gather", "Scatter",
	"AllGather", "AllToAll", "NeighborAllGather", "NeighborAllToAll", "Split, Dup or Create",
	"Put, Get or Accumulate",
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
	Number uint32 // counts the communicator's operations from 1
	Root   int    // or -1
	Type   reflect.Kind
	Size   int // of an element in bytes
	Length int // elements in the slice that must have the same length at all members; -1 if the lengths may differ
}

// String describes the call in words.
func (c Call) String() string {
	s := fmt.Sprintf("%v (operation %d)", c.Op, c.Number)
	if c.Root >= 0 {
		s += fmt.Sprintf(" with root %d", c.Root)
	}
	t := describe(c.Type, uint32(c.Size))
	if c.Length < 0 {
		return s + fmt.Sprintf(" of %s, with a length for each member", t)
	}
	return s + fmt.Sprintf(" of %d × %s", c.Length, t)
}

// A call is a collective operation of this member while it goes on.
type call struct {
	c    *Comm
	head header // what goes ahead of each message
}

var calls = sync.Pool{New: func() any { return new(call) }}

// vary is the length in the header of operations that have a length for each member: only the two members of a message
// must have the same.
const vary = 1<<63 - 1

// public returns the call in its exported form.
func (k *call) public() Call { return publicCall(&k.head) }

func publicCall(h *header) Call {
	c := Call{Op: h.op, Number: uint32(h.tag), Root: int(h.root), Type: h.kind, Size: int(h.size), Length: int(h.length)}
	if h.length == vary {
		c.Length = -1
	}
	return c
}

// A plan is a collective operation that can be carried out: at once, or by a goroutine of its own.
type plan struct {
	c    *Comm
	head header
	err  error // why it cannot be
	body func(ctx context.Context, k *call) error
}

// plan returns the plan of an operation on elements like those of b, with n elements in the slice that must have the
// same length at all members, or vary. Root is -1 if it has none.
func (c *Comm) plan(op Operation, root int, b Buffer, n int, body func(ctx context.Context, k *call) error) plan {
	p := plan{c: c, body: body, err: b.check()}
	p.head = header{
		comm: c.id, class: collective, op: op, root: int32(root), kind: b.kind, size: uint32(b.size), length: uint64(n),
	}
	if root != -1 && p.err == nil {
		p.err = c.has(root)
	}
	return p
}

// do carries a plan out.
func (p plan) do(ctx context.Context) error {
	k, err := p.begin()
	if err == nil {
		err = p.body(ctx, k)
	}
	return k.end(err)
}

// start has a goroutine carry a plan out. The operations of a communicator are numbered in the order in which they are
// started, so several can go on at the same time.
func (p plan) start() (*Request, error) {
	return (&Request{c: p.c, op: &callOp{plan: p}}).begin()
}

// A callOp is a collective operation as that of a request.
type callOp struct {
	plan plan
	g    background
}

func (o *callOp) start() error {
	k, err := o.plan.begin()
	if err != nil {
		return k.end(err)
	}
	o.g.begin(o.plan.c.w, func(ctx context.Context) error { return k.end(o.plan.body(ctx, k)) })
	return nil
}

func (o *callOp) wait(ctx context.Context) (Status, error) { return Status{}, o.g.wait(ctx) }
func (o *callOp) test() bool                               { return o.g.over.Load() }
func (o *callOp) watch()                                   {}

// begin notes an operation that begins, even if it cannot go on.
func (p plan) begin() (*call, error) {
	c := p.c
	h := p.head
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	c.seq++
	h.tag = int32(c.seq)
	k := calls.Get().(*call)
	k.c = c
	k.head = h
	c.running = append(c.running, k)
	c.past[c.seq%uint32(len(c.past))] = h
	if err := c.over(); err != nil {
		return k, err
	}
	return k, p.err
}

// end notes that an operation has ended, and returns its error with the operation added. If it has failed it revokes
// the communicator, since other members may wait for this one. It finds messages that nobody has asked for.
func (k *call) end(err error) error {
	c := k.c
	w := c.w
	w.mu.Lock()
	defer w.unlock()
	i := slices.Index(c.running, k)
	c.running = slices.Delete(c.running, i, i+1)
	if err == nil && c.q.Unexpected() > 0 {
		if m, from, ok := c.q.Peek(AnySource, k.head.key(), match.Exact); ok {
			err = &MismatchError{Rank: c.group.at(from), Mine: k.public(), Theirs: publicCall(&m.head)}
		}
	}
	if err != nil {
		if !errors.Is(err, ErrLength) && !errors.Is(err, ErrMismatch) {
			err = &opError{k.public(), err}
		}
		c.revoke(c.revocation(err))
	}
	*k = call{}
	calls.Put(k)
	return err
}

// missed handles a message of a collective operation that this member is through with: some members have called
// something else, and what this one called was too short for that to be seen at once. It reports whether it is so. The
// lock is held.
func (c *Comm) missed(place int, h *header) bool {
	seq := uint32(h.tag)
	if seq > c.seq || slices.ContainsFunc(c.running, func(k *call) bool { return k.head.tag == h.tag }) {
		return false
	}
	e := &MismatchError{Rank: c.group.at(place), Theirs: publicCall(h)}
	if mine := &c.past[seq%uint32(len(c.past))]; mine.tag == h.tag {
		e.Mine = publicCall(mine)
	}
	c.revoke(c.revocation(e))
	return true
}

// compare returns an error unless the member rank has called what this member has, and its message has as many bytes as
// the buffer for it.
func (k *call) compare(rank int, theirs *header, bytes int, into *Buffer) error {
	mine := k.head
	mine.kind = into.kind
	mine.size = uint32(into.size)
	if err := mine.differs(rank, theirs); err != nil {
		return err
	}
	if bytes != into.bytes() {
		return &LengthError{mine.op, rank, bytes / max(into.size, 1), into.count()}
	}
	return nil
}

// differs returns an error unless the member rank has called what this member has.
func (h *header) differs(rank int, theirs *header) error {
	switch {
	case h.op != theirs.op || h.root != theirs.root || h.kind != theirs.kind || h.size != theirs.size ||
		(h.length == vary) != (theirs.length == vary):
		return &MismatchError{Rank: rank, Mine: publicCall(h), Theirs: publicCall(theirs)}
	case h.length != theirs.length:
		return &LengthError{h.op, rank, int(theirs.length), int(h.length)}
	}
	return nil
}

// want returns a LengthError unless a slice of this member has the length that it must have.
func (k *call) want(got, want int) error {
	if got != want {
		return &LengthError{k.head.op, -1, got, want}
	}
	return nil
}
