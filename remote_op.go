package weft

import (
	"context"
	"sync"
	"sync/atomic"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/inbox"
)

// An Op is an operation that has been started and goes on by itself. Wait must be called exactly
// once. Until it returns, the operation's buffer belongs to weft. An Op is for one goroutine
// at a time.
type Op struct {
	node   *driver.Node
	call   *driver.Call // nil if it was done at once
	way    *inbox.Way   // of a message to a mailbox
	number uint64       // on its way
	value  uint64
	err    error
}

var ops = sync.Pool{New: func() any { return new(Op) }}

// opsFreed says that the program calls Op.Free: in a pool into which nothing is put, it takes longer to look than to
// allocate.
var opsFreed atomic.Bool

// newOp returns an Op, which may hold what an earlier one has left.
func newOp() *Op {
	if !opsFreed.Load() {
		return new(Op)
	}
	return ops.Get().(*Op)
}

// StartPush begins a Push. Src must not be changed until the Op has ended. A message that is sent
// to the same rank afterwards, before or after Wait, arrives after the data. For all other
// ranks the data is in place only when Wait has returned.
func (r *Remote) StartPush(off int, src []byte) (*Op, error) {
	if err := r.writable(); err != nil {
		return nil, err
	}
	r.p.count(r.rank, amt.Push, len(src))
	return r.start(&rma.Op{Kind: rma.Push, Off: uint64(off), Buf: src})
}

// StartPull begins a Pull. Dst must not be used until the Op has ended.
func (r *Remote) StartPull(dst []byte, off int) (*Op, error) {
	r.p.count(r.rank, amt.Pull, len(dst))
	return r.start(&rma.Op{Kind: rma.Pull, Off: uint64(off), Buf: dst})
}

// StartFetchAdd begins a FetchAdd. After Wait, Op.Value returns the former value.
func (r *Remote) StartFetchAdd(off int, delta uint64) (*Op, error) {
	return r.startAtomic(wire.CodeAdd, off, delta, 0)
}

// StartSwap begins a Swap. After Wait, Op.Value returns the former value.
func (r *Remote) StartSwap(off int, v uint64) (*Op, error) {
	return r.startAtomic(wire.CodeSwap, off, v, 0)
}

// StartCompareSwap begins a CompareSwap. After Wait, Op.Value returns the former value.
func (r *Remote) StartCompareSwap(off int, old, v uint64) (*Op, error) {
	return r.startAtomic(wire.CodeCompareSwap, off, old, v)
}

func (r *Remote) startAtomic(code wire.Code, off int, a, b uint64) (*Op, error) {
	if err := r.writable(); err != nil {
		return nil, err
	}
	r.p.count(r.rank, amt.Atomic, 8)
	return r.start(&rma.Op{Kind: rma.Atomic, Off: uint64(off), Code: code, A: a, B: b})
}

func (r *Remote) start(op *rma.Op) (*Op, error) {
	if r.direct != nil {
		return r.startNear(op)
	}
	o := newOp()
	*o = Op{node: r.p.node}
	o.call = driver.NewCall()
	o.call.RMA.Code = op.Code
	o.call.RMA.A = op.A
	o.call.RMA.B = op.B
	if err := r.begin(o.call, op.Kind, int(op.Off), op.Buf); err != nil {
		o.call.Free()
		return nil, err
	}
	return o, nil
}

// startNear carries an operation on mapped memory out.
func (r *Remote) startNear(op *rma.Op) (*Op, error) {
	var value uint64
	var err error
	switch op.Kind {
	case rma.Flush:
		err = r.Flush(context.Background())
	case rma.Atomic:
		value, err = r.nearWord(int(op.Off), op.Code, op.A, op.B)
	default:
		err = r.near(op.Kind, int(op.Off), op.Code, op.Buf)
	}
	if err != nil {
		return nil, err
	}
	o := newOp()
	*o = Op{node: r.p.node, value: value}
	return o, nil
}

// Done reports whether Wait would return at once.
func (o *Op) Done() bool { return o.call == nil || o.node.Ended(o.call) }

// Wait waits until the operation has ended, and returns its error. If ctx ends first the operation
// is given up, and may or may not have taken effect: see UnknownOutcomeError. Afterwards only
// Value and Free may be called.
func (o *Op) Wait(ctx context.Context) error {
	if o.call == nil {
		return o.err
	}
	o.err = o.node.Wait(ctx, o.call)
	if o.call.RMA.Kind == rma.Atomic {
		o.value = o.call.RMA.Value
	}
	if o.way != nil {
		o.way.Ended(o.number, o.err)
	}
	o.call.Free()
	o.call = nil
	return o.err
}

// Value returns, after Wait, the former value of the word that an atomic operation changed. For
// other operations it returns 0.
func (o *Op) Value() uint64 { return o.value }

// Free lets a later operation use the memory of an Op whose Wait has returned. Calling it is
// optional. The Op must not be used afterwards.
func (o *Op) Free() {
	if o.call == nil {
		if !opsFreed.Load() {
			opsFreed.Store(true)
		}
		ops.Put(o)
	}
}
