package mpi

import (
	"math/bits"
	"sync"

	"weft/internal/mem"
)

// A pool keeps memory of unexpected messages for later ones, by powers of two.
type pool struct {
	free [maxClass + 1][][]byte
	held int // bytes
}

const (
	maxClass = 16
	maxHeld  = 4 << 20 // bytes that a pool keeps
)

// clone returns a copy of b.
func (p *pool) clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	k := bits.Len(uint(len(b) - 1))
	if k > maxClass {
		return append([]byte(nil), b...)
	}
	f := p.free[k]
	if len(f) == 0 {
		c := make([]byte, len(b), 1<<k)
		copy(c, b)
		return c
	}
	c := f[len(f)-1][:len(b)]
	p.free[k] = f[:len(f)-1]
	p.held -= 1 << k
	copy(c, b)
	return c
}

// put takes back what clone has returned.
func (p *pool) put(b []byte) {
	k := bits.Len(uint(max(cap(b), 1) - 1))
	if cap(b) == 0 || k > maxClass || 1<<k != cap(b) || p.held+cap(b) > maxHeld {
		return
	}
	p.free[k] = append(p.free[k], b)
	p.held += cap(b)
}

// A room is memory that an operation needs while it goes on.
type room struct{ b []byte }

var rooms = sync.Pool{New: func() any { return new(room) }}

// get returns n bytes, aligned to 8. They are valid until the next call, or until put.
func (r *room) get(n int) []byte {
	if len(r.b) < n {
		r.b = mem.Aligned(2*n + 64)
	}
	return r.b[:n]
}

// newRoom returns a room, which put takes back.
func newRoom() *room { return rooms.Get().(*room) }

func (r *room) put() { rooms.Put(r) }
