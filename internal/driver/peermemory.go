package driver

import (
	"context"

	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Map returns the memory of a region of the peer if it can be mapped here, else nil. Its last word tells whether the
// peer has withdrawn the region (Withdrawn).
func (p *Peer) Map(found rma.Found) *transport.Mapping {
	memory := p.memory()
	if found.Mem == 0 || memory == nil {
		return nil
	}
	m, err := memory.Map(p.Rank, found.Mem, found.Key, found.ReadOnly)
	if err != nil || found.Size < 0 || len(m.Bytes) < 8 || found.Size > len(m.Bytes)-8 {
		return nil
	}
	return m
}

// Reach returns a region of the peer if a device of this process reaches its memory, else nil.
func (p *Peer) Reach(ctx context.Context, found rma.Found) transport.Window {
	if p == nil || p.Transport == nil {
		return nil
	}
	if t, ok := p.Transport.(transport.Reacher); ok {
		return t.Reach(ctx, p.Rank, found.Region, found.Key)
	}
	return nil
}

// Read copies memory that the peer has offered into dst, and reports whether it could. Id is the number of shared
// memory, and addr an offset in it; if id is 0, addr is an address in the peer's process.
func (p *Peer) Read(id uint32, addr uint64, dst []byte) bool {
	memory := p.memory()
	if memory == nil {
		return false
	}
	if id == 0 {
		return sys.InPieces(dst, func(at int, dst []byte) error { return memory.Read(p.Rank, addr+uint64(at), dst) }) == nil
	}
	src, m := p.shared(id, addr, len(dst))
	if m == nil {
		return false
	}
	_ = sys.InPieces(dst, func(at int, dst []byte) error {
		mem.Copy(dst, src[at:][:len(dst)])
		return nil
	})
	return !m.Gone() // else the sender has given the message up
}

// attends reports whether the peer polls, as far as can be seen. The lock is held, and the node is not closed.
func (p *Peer) attends() bool {
	memory := p.memory()
	return memory != nil && memory.Attends(p.Rank)
}

// shared returns size bytes at an offset of shared memory of the peer, and their mapping; nil if they cannot be mapped.
func (p *Peer) shared(id uint32, off uint64, size int) ([]byte, *transport.Mapping) {
	memory := p.memory()
	if memory == nil {
		return nil, nil
	}
	m, err := memory.Map(p.Rank, id, 0, true)
	if err != nil || off > uint64(len(m.Bytes)) || uint64(size) > uint64(len(m.Bytes))-off {
		return nil, nil
	}
	return m.Bytes[off:][:size], m
}

// memory returns how the memory of the peer is reached, or nil if it is not.
func (p *Peer) memory() transport.Memory {
	if p == nil || p.Transport == nil {
		return nil
	}
	return p.Transport.Memory()
}
