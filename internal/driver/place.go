package driver

import (
	"errors"
	"os"

	"weft/failure"
	"weft/internal/mem"
	"weft/internal/sys"
)

// A Place is where bytes lie in the memory of a process, for other processes of its host.
type Place struct{ Process, Address uint64 }

var process = uint64(os.Getpid())

// PlaceOf returns where bytes of this process lie. A place does not keep the bytes in use: the process does that, as
// long as others may read.
func PlaceOf(b []byte) Place { return Place{process, mem.Addr(b)} }

// Read copies what is at an offset from a place, in the process of a rank, into dst: in one copy, in which that process
// has no part. Whether the kernel allows it is found out by trying. The error is a failure.PeerError if the process has
// ended.
func (p Place) Read(rank, off int, dst []byte) error {
	err := sys.InPieces(dst, func(at int, dst []byte) error {
		return sys.ReadProcess(int(p.Process), p.Address+uint64(off)+uint64(at), dst)
	})
	if errors.Is(err, sys.ErrNoProcess) {
		return &failure.PeerError{Rank: rank, Cause: err}
	}
	return err
}
