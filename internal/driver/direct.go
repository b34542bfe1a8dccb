package driver

import (
	"weft/internal/engine/link"
	"weft/internal/engine/rma"
	"weft/internal/mem"
)

// Direct completes an operation on a region that is mapped here: the shortcut
// past the engine. The initiator checks what the target would have checked.
// Order against messages to the same peer holds, because the memory is written
// before Direct returns, and a message sent later becomes visible later.
//
// The last word of the mapping tells whether the owner has withdrawn the
// region; size is that of the region itself.
func Direct(mapped []byte, size int, op *rma.Op) error {
	if Withdrawn(mapped) {
		return &rma.RegionError{Rank: op.Peer, Err: link.ErrClosed}
	}
	off := int(op.Off)
	if op.Kind == rma.Atomic {
		if err := rma.CheckWord(off, size); err != nil {
			return err
		}
		op.Value = rma.Apply(mapped, off, op.Code, op.A, op.B)
		return nil
	}
	if err := rma.CheckRange(off, len(op.Buf), size); err != nil {
		return err
	}
	if op.Kind == rma.Push {
		mem.Copy(mapped[off:], op.Buf)
	} else {
		mem.Copy(op.Buf, mapped[off:off+len(op.Buf)])
	}
	return nil
}

// Write is Direct for a push, without an operation to describe it.
func Write(mapped []byte, rank, size, off int, b []byte) error {
	switch {
	case Withdrawn(mapped):
		return &rma.RegionError{Rank: rank, Err: link.ErrClosed}
	case off < 0 || len(b) > size || off > size-len(b):
		return rma.CheckRange(off, len(b), size)
	}
	mem.Copy(mapped[off:], b)
	return nil
}

// Withdrawn reports whether the owner of a mapped region has withdrawn it.
func Withdrawn(mapped []byte) bool { return mem.Load64(mapped, len(mapped)-8) != 0 }
