package driver

import (
	"errors"
	"os"

	"weft/failure"
	"weft/internal/mem"
	"weft/internal/sys"
)

// A Place is where bytes lie in the memory of a process, for other processes of its host.
type Place struct {
	Process uint32
	Memory  uint32 // the number of the shared memory they lie in; 0: ordinary memory
	Address uint64
	Offset  uint64 // in the shared memory
}

var process = uint32(os.Getpid())

// PlaceOf returns where bytes of this process lie. A place does not keep the bytes in use: the process does that, as
// long as others may read.
func PlaceOf(b []byte) Place { return Place{Process: process, Address: mem.Addr(b)} }

// Read copies what is at an offset from a place, in the process of a rank, into dst: in one copy, in which that process
// has no part. Whether the kernel allows it is found out by trying. The error is a failure.PeerError if the process has
// ended.
func (p Place) Read(n *Node, rank, off int, dst []byte) error {
	err := sys.InPieces(dst, func(at int, dst []byte) error {
		if src := p.Bytes(n, rank, off+at, len(dst)); src != nil {
			mem.Copy(dst, src)
			return nil
		}
		return sys.ReadProcess(int(p.Process), p.Address+uint64(off)+uint64(at), dst)
	})
	if errors.Is(err, sys.ErrNoProcess) {
		return &failure.PeerError{Rank: rank, Cause: err}
	}
	return err
}

// Bytes returns size bytes at an offset from a place, if they are shared memory of a peer, which is mapped here; else
// nil. The first time for each such memory it waits until the peer has answered.
func (p Place) Bytes(n *Node, rank, off, size int) []byte {
	if p.Memory == 0 {
		return nil
	}
	b, _ := n.Peer(rank).shared(p.Memory, p.Offset+uint64(off), size)
	return b
}
