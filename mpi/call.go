package mpi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"weft/internal/match"
	"weft/internal/mem"
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

// A shape is what operations differ in, besides how they are carried out.
type shape struct {
	name   string
	rooted bool
	byDst  bool // the elements that members must have alike are those of dst
}

var shapes = [operations]shape{
	OpPointToPoint: {name: "Send or Recv"}, OpBarrier: {name: "Barrier"}, OpBroadcast: {name: "Broadcast", rooted: true},
	OpReduce: {name: "Reduce", rooted: true}, OpAllReduce: {name: "AllReduce"}, OpScan: {name: "Scan"},
	OpExscan: {name: "Exscan"}, OpReduceScatter: {name: "ReduceScatter"}, OpGather: {name: "Gather", rooted: true},
	OpScatter: {name: "Scatter", rooted: true, byDst: true}, OpAllGather: {name: "AllGather"},
	OpAllToAll: {name: "AllToAll", byDst: true}, OpNeighborAllGather: {name: "NeighborAllGather"},
	OpNeighborAllToAll: {name: "NeighborAllToAll"}, OpSplit: {name: "Split, Dup or Create"},
	OpWindow: {name: "Put, Get or Accumulate"},
}

// String returns the name of the function, such as AllReduce.
func (o Operation) String() string {
	if o < operations {
		return shapes[o].name
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
	Size   int  // of an element in bytes
	Length int  // elements in the slice that must have the same length at all members; -1 if the lengths may differ
	Begun  bool // it was begun only, by a function whose name begins with Start, as far as that is known
}

// String describes the call in words.
func (c Call) String() string {
	s := fmt.Sprintf("%v (operation %d)", c.Op, c.Number)
	if c.Begun {
		s = "Start" + s
	}
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
	params
	part
	c     *Comm
	head  header   // what goes ahead of each message
	bound *binding // the program's context, if it waits
	looks int      // of inquire at it

	memory      []byte // that the operation needs, aligned to 8
	used, total int    // of memory; of all that room has returned
}

var calls = sync.Pool{New: func() any {
	k := new(call)
	k.waiter.ready = k.waiter.met
	return k
}}

// vary is the length in the header of operations that have a length for each member: only the two members of a message
// must have the same.
const vary = 1<<63 - 1

// public returns the call in its exported form.
func (k *call) public() Call { return publicCall(&k.head) }

func publicCall(h *header) Call {
	c := Call{
		Op: h.op, Number: uint32(h.tag), Root: int(h.root), Type: h.kind, Size: int(h.size), Length: int(h.length),
		Begun: h.form == synchronous,
	}
	if h.length == vary {
		c.Length = -1
	}
	return c
}

// run carries an operation out.
func (c *Comm) run(ctx context.Context, p *params) error {
	k, err := c.begin(ctx, p)
	if err == nil {
		err = k.carryOut(ctx)
	}
	return k.end(err)
}

// start begins an operation: at once as far as it can go on the board, else a goroutine carries it out. The operations
// of a communicator are numbered in the order in which they are started, so several can go on at the same time.
func (c *Comm) start(p *params) (*Request, error) {
	p.how = started
	return (&Request{c: c, op: &callOp{c: c, params: *p}}).begin()
}

// A callOp is a collective operation as that of a request.
type callOp struct {
	c      *Comm
	params params
	k      *call // on the board; else nil
	g      background
}

func (o *callOp) start() error {
	k, err := o.c.begin(context.Background(), &o.params)
	if err != nil {
		return k.end(err)
	}
	a := k.algorithm()
	if !k.choose(a) {
		o.g.begin(o.c.w, func(ctx context.Context) error { return k.end(k.byMessages(ctx, a)) })
		return nil
	}
	if err := o.c.board.begin(k); err != nil {
		return k.end(err)
	}
	o.k = k
	return nil
}

func (o *callOp) wait(ctx context.Context) (Status, error) {
	if o.g.task != nil {
		return Status{}, o.g.wait(ctx)
	}
	return Status{}, o.finish(ctx)
}

// finish waits for the end of an operation on the board.
func (o *callOp) finish(ctx context.Context) error {
	k := o.k
	o.k = nil
	return k.end(k.carry(ctx))
}

func (o *callOp) test() bool {
	if o.g.task != nil {
		return o.g.over.Load()
	}
	return o.k.look()
}

func (o *callOp) watch() {
	if o.g.task == nil && !o.k.look() {
		o.g.begin(o.c.w, o.finish)
	}
}

// begin notes an operation that begins, even if it cannot go on.
func (c *Comm) begin(ctx context.Context, p *params) (*call, error) {
	k := calls.Get().(*call)
	k.params = *p
	k.c = c
	err := k.describe()
	w := c.w
	w.mu.Lock()
	defer w.unlock()
	c.seq++
	k.head.tag = int32(c.seq)
	c.running = append(c.running, k)
	past := &c.past[c.seq%uint32(len(c.past))]
	*past = k.head
	if k.how == called {
		k.bound = c.bind(ctx)
	} else {
		past.form = synchronous
	}
	if c.board != nil {
		w.beginInquiry()
	}
	if err := c.over(); err != nil {
		return k, err
	}
	return k, err
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
	if k.bound != nil {
		c.unbind(k.bound)
	}
	if len(w.sought) > 0 {
		w.found(k)
	}
	if err == nil && c.q.Unexpected() > 0 {
		if m, from, ok := c.q.Peek(AnySource, k.head.key(), match.Exact); ok {
			err = &MismatchError{Rank: c.group.at(from), Mine: k.public(), Theirs: publicCall(&m.head)}
		}
	}
	if err != nil {
		err = k.explain(err)
		c.revoke(c.revocation(err))
	}
	ready := k.waiter.ready
	outs, ins := k.keep()
	*k = call{memory: k.memory}
	k.waiter.ready = ready
	k.outs = outs
	k.ins = ins
	calls.Put(k)
	return err
}

// explain returns an error of the operation with the operation added.
func (k *call) explain(err error) error {
	if errors.Is(err, ErrLength) || errors.Is(err, ErrMismatch) {
		return err
	}
	return &opError{k.public(), err}
}

// room returns n bytes, aligned to 8, which are the operation's until it ends.
func (k *call) room(n int) []byte {
	each := (n + 7) &^ 7
	k.total += each
	if k.used+each > len(k.memory) {
		k.memory = mem.Aligned(2*k.total + 64)
		k.used = 0
	}
	b := k.memory[k.used : k.used+n]
	k.used += each
	return b
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
