package weft

import (
	"context"

	"weft/internal/amt"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
)

// An Update says what becomes of an 8-byte word of a region by an operand, at the rank that has it: no operation of
// another rank comes between reading and writing. Words are in the byte order of the host that has them.
type Update uint8

// The updates. Add and Mul are for integers with and without a sign, and wrap around; Min and Max are for int64. Those
// with Unsigned are for uint64, those with Float for float64.
const (
	UpdateReplace     = Update(wire.CodeSwap)
	UpdateAdd         = Update(wire.CodeAdd)
	UpdateMul         = Update(wire.CodeMul)
	UpdateAnd         = Update(wire.CodeAnd)
	UpdateOr          = Update(wire.CodeOr)
	UpdateXor         = Update(wire.CodeXor)
	UpdateMin         = Update(wire.CodeMin)
	UpdateMax         = Update(wire.CodeMax)
	UpdateMinUnsigned = Update(wire.CodeMinUnsigned)
	UpdateMaxUnsigned = Update(wire.CodeMaxUnsigned)
	UpdateAddFloat    = Update(wire.CodeAddFloat)
	UpdateMulFloat    = Update(wire.CodeMulFloat)
	UpdateMinFloat    = Update(wire.CodeMinFloat)
	UpdateMaxFloat    = Update(wire.CodeMaxFloat)
)

// check returns an error unless it is one of the updates.
func (u Update) check() error {
	if u > UpdateMaxFloat || wire.Code(u) == wire.CodeCompareSwap {
		return &ConfigError{Field: "update", Value: int(u), Min: 0, Max: int(UpdateMaxFloat)}
	}
	return nil
}

// FetchUpdate atomically updates the 8-byte word at off by v, and returns its former value. Off must be a multiple of
// 8.
func (r *Remote) FetchUpdate(ctx context.Context, off int, u Update, v uint64) (old uint64, err error) {
	if err := u.check(); err != nil {
		return 0, err
	}
	return r.atomic(ctx, wire.Code(u), off, v, 0)
}

// StartFetchUpdate begins a FetchUpdate. After Wait, Op.Value returns the former value.
func (r *Remote) StartFetchUpdate(off int, u Update, v uint64) (*Op, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	return r.startAtomic(wire.Code(u), off, v, 0)
}

// Update updates words from off on, each atomically, by those of up to MaxPut bytes. It copies b, and does not wait
// until that is done: Flush does, and returns an error if the rank refused an Update. Except of UpdateReplace, off and
// the length of b must be multiples of 8.
func (r *Remote) Update(off int, u Update, b []byte) error {
	if err := r.writable(); err != nil {
		return err
	}
	if err := u.check(); err != nil {
		return err
	}
	if len(b) > MaxPut {
		return &TooLongError{Size: len(b), Limit: MaxPut, What: "what Put takes"}
	}
	r.p.count(r.rank, amt.Put, len(b))
	if r.direct != nil {
		return r.access(rma.Push, off, wire.Code(u), b)
	}
	op := rma.Op{Kind: rma.Push, Code: wire.Code(u)}
	if err := r.aim(&op, off, b); err != nil {
		return err
	}
	r.peer.Puts.Add(1)
	return r.p.node.Put(&op)
}

// StartUpdate begins to update words from off on, each atomically, by those of b, which must not be changed until the
// Op has ended. As for a Push, a message that is sent to the same rank afterwards arrives after the updates.
func (r *Remote) StartUpdate(off int, u Update, b []byte) (*Op, error) {
	if err := r.writable(); err != nil {
		return nil, err
	}
	if err := u.check(); err != nil {
		return nil, err
	}
	r.p.count(r.rank, amt.Push, len(b))
	return r.start(&rma.Op{Kind: rma.Push, Code: wire.Code(u), Off: uint64(off), Buf: b})
}

// StartFlush begins a Flush.
func (r *Remote) StartFlush() (*Op, error) { return r.start(&rma.Op{Kind: rma.Flush}) }
