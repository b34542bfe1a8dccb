package driver

import (
	"runtime"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/transport"
)

// Direct completes an operation on a region that is mapped here, past the engine. The initiator
// checks what the target would have checked. Order against messages to the same peer holds:
// the memory is written before Direct returns, and a message sent later becomes visible later.
//
// The last word of the mapping tells whether the owner has withdrawn the
// region; size is that of the region itself. If the owner withdraws it meanwhile, the
// operation fails, and may have read or written memory that no process uses any more.
func Direct(mapped *transport.Mapping, size int, op *rma.Op) error {
	if Withdrawn(mapped) {
		return &failure.RegionError{Rank: op.Peer, Err: failure.ErrClosed}
	}
	if err := apply(mapped.Bytes, size, op); err != nil {
		return err
	}
	if mapped.Gone() {
		return &failure.RegionError{Rank: op.Peer, Err: failure.ErrClosed}
	}
	return nil
}

// apply does an operation on mapped memory of size bytes, without a packet. It checks the bounds as the owner's
// engine would. A reader that polls a word never sees half of it (mem.Copy); longer writes may be seen in part.
func apply(b []byte, size int, op *rma.Op) error {
	off := int(op.Off)
	if err := op.Check(size); err != nil {
		return err
	}
	switch op.Kind {
	case rma.Atomic:
		op.Value = rma.Apply(b, off, op.Code, op.A, op.B)
	case rma.Push:
		rma.Write(b[off:], op.Code, op.Buf)
	default:
		mem.Copy(op.Buf, b[off:off+len(op.Buf)])
	}
	return nil
}

// Write is Direct for a push, without an operation to describe it.
func Write(mapped *transport.Mapping, rank, size, off int, b []byte) error {
	switch {
	case Withdrawn(mapped):
		return &failure.RegionError{Rank: rank, Err: failure.ErrClosed}
	case off < 0 || len(b) > size || off > size-len(b):
		return failure.CheckRange(off, len(b), size)
	}
	mem.Copy(mapped.Bytes[off:], b)
	runtime.KeepAlive(mapped)
	return nil
}

// Withdrawn reports whether the owner of a mapped region has withdrawn it. The owner says so
// in the last word, and takes the memory back later. After that the place of the word may hold
// something else, so Withdrawn also asks whether the mapping is gone.
func Withdrawn(mapped *transport.Mapping) bool {
	b := mapped.Bytes
	return mem.Load64(b, len(b)-8) != 0 || mapped.Gone()
}
