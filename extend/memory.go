package extend

import (
	"weft"
	"weft/internal/driver"
	"weft/internal/inside"
)

// A Place is where bytes lie in the memory of a rank, for ranks of the same host, which may copy from there while the
// program of that rank does something else. A place does not keep its bytes in use: the rank does that, as long as
// others may read them.
type Place = driver.Place

// PlaceOf returns where bytes of this rank lie, for another rank of its host. That rank may map them if they are memory
// of weft.Proc.Alloc or of a region. For another reader the place is the same, but PlaceOf must be called, too.
func PlaceOf(p *weft.Proc, b []byte, reader int) Place {
	place := driver.PlaceOf(b)
	if id, offset := inside.OfProc(p).Memory.Offer(reader, b); id != 0 {
		place.Memory = id
		place.Offset = offset
	}
	return place
}

// ReadPlace copies what is at an offset from a place of a rank into dst: in one copy, in which that rank has no part.
// Whether the kernel allows it is found out by trying. The error is a weft.PeerError if the rank's process has ended.
func ReadPlace(p *weft.Proc, from Place, rank, off int, dst []byte) error {
	return from.Read(inside.OfProc(p).Node, rank, off, dst)
}

// MapPlace returns size bytes at an offset from a place of a rank, if this rank may map them, else nil. The first time
// for each memory it waits until the other rank has answered. The bytes stay readable when that rank gives them up.
func MapPlace(p *weft.Proc, from Place, rank, off, size int) []byte {
	return from.Bytes(inside.OfProc(p).Node, rank, off, size)
}
