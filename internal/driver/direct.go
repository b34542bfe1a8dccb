package driver

import (
	"runtime"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/transport"
)

// Write writes b to a region that is mapped here, past the engine, or updates words of it by those of b, as code says.
// The initiator checks what the target would have checked: size is that of the region. Order against messages to the
// same peer holds: the memory is written before Write returns, and a message sent later becomes visible later. A reader
// that polls a word never sees half of it (mem.Copy); longer writes may be seen in part.
//
// The last word of the mapping tells whether the owner has withdrawn the region. If the owner withdraws it meanwhile,
// Write may have written memory that no process uses any more.
func Write(mapped *transport.Mapping, rank, size, off int, code rma.Code, b []byte) error {
	switch {
	case Withdrawn(mapped):
		return withdrawn(rank)
	case off < 0 || len(b) > size || off > size-len(b):
		return failure.CheckRange(off, len(b), size)
	case code == rma.Replace:
		mem.Copy(mapped.Bytes[off:], b)
	case (off|len(b))&7 != 0:
		return &failure.MisalignedError{Off: off}
	default:
		rma.Write(mapped.Bytes[off:], code, b)
	}
	runtime.KeepAlive(mapped)
	return nil
}

// Read is Write for a read into b. If the owner withdraws the region meanwhile, the read fails.
func Read(mapped *transport.Mapping, rank, size, off int, b []byte) error {
	switch {
	case Withdrawn(mapped):
		return withdrawn(rank)
	case off < 0 || len(b) > size || off > size-len(b):
		return failure.CheckRange(off, len(b), size)
	}
	mem.Copy(b, mapped.Bytes[off:off+len(b)])
	if mapped.Gone() {
		return withdrawn(rank)
	}
	return nil
}

// Atomic is Write for an atomic operation on the word at off. It returns what was there before.
func Atomic(mapped *transport.Mapping, rank, size, off int, code rma.Code, a, b uint64) (old uint64, err error) {
	if Withdrawn(mapped) {
		return 0, withdrawn(rank)
	}
	if err := rma.CheckWord(off, size); err != nil {
		return 0, err
	}
	old = rma.Apply(mapped.Bytes, off, code, a, b)
	if mapped.Gone() {
		return old, withdrawn(rank)
	}
	return old, nil
}

func withdrawn(rank int) error { return &failure.RegionError{Rank: rank, Err: failure.ErrClosed} }

// Withdrawn reports whether the owner of a mapped region has withdrawn it. The owner says so
// in the last word, and takes the memory back later. After that the place of the word may hold
// something else, so Withdrawn also asks whether the mapping is gone.
func Withdrawn(mapped *transport.Mapping) bool {
	b := mapped.Bytes
	return mem.Load64(b, len(b)-8) != 0 || mapped.Gone()
}
