package weft

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"weft/internal/mem"
	"weft/internal/transport"
)

// A share is memory that peers on this host can map.
type share struct {
	*transport.Mapping
	id uint32 // 0: ordinary memory, because no transport can share it
}

// Alloc returns n bytes of zeroed memory that ranks on the same host can map. A message of more
// than 32 KiB that is sent from it is copied only once, and without a system call. Alloc
// rounds up to pages, so it is meant for long messages. A rank on this host to which such a
// message is sent can read the whole memory, but cannot write to it.
func (p *Proc) Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, &ConfigError{Field: "size", Value: n, Min: 0, Max: 1 << 40}
	}
	s, err := p.share(max(n, 1), true)
	if err != nil {
		return nil, err
	}
	return s.Bytes[:n:n], nil
}

// Free gives back memory that Alloc has returned. It must not be used any more.
func (p *Proc) Free(b []byte) error {
	if p.node.Closing() {
		return ErrClosed
	}
	p.mu.Lock()
	i := p.find(b)
	var s share
	if i >= 0 {
		s = p.shares[i]
	}
	p.mu.Unlock()
	if i < 0 || mem.Addr(s.Bytes) != mem.Addr(b) {
		return fmt.Errorf("weft: Free: Alloc has not returned this memory, or it has been freed")
	}
	return p.unshare(s)
}

// share makes shared memory, which other ranks can only read if readOnly is set, and registers
// it.
func (p *Proc) share(n int, readOnly bool) (s share, err error) {
	if p.node.Closing() {
		return s, ErrClosed
	}
	if p.memory == nil {
		return p.private(n), nil
	}
	s.id, s.Mapping, err = p.memory.Share(n, readOnly)
	switch {
	case errors.Is(err, transport.ErrNoMemory):
		return p.private(n), nil
	case err == nil:
		p.keep(s)
	}
	return s, err
}

// private is share for memory that no other process can map.
func (p *Proc) private(n int) share {
	s := share{Mapping: transport.NewMapping(mem.Aligned((n+4095)&^4095), false, nil)}
	p.keep(s)
	return s
}

// keep registers shared memory by its address.
func (p *Proc) keep(s share) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := mem.Addr(s.Bytes)
	i := sort.Search(len(p.shares), func(i int) bool { return mem.Addr(p.shares[i].Bytes) > at })
	p.shares = append(p.shares, share{})
	copy(p.shares[i+1:], p.shares[i:])
	p.shares[i] = s
	p.holds()
}

// unshare takes shared memory back. Goroutines that are using it at that moment do not fault.
func (p *Proc) unshare(s share) error {
	p.mu.Lock()
	if i := p.find(s.Bytes); i >= 0 {
		p.shares = slices.Delete(p.shares, i, i+1)
		p.holds()
	}
	p.mu.Unlock()
	if p.node.Closing() {
		return ErrClosed // Close takes it
	}
	if s.id == 0 {
		s.Retire()
		return nil
	}
	return p.memory.Unshare(s.id)
}

// find returns the index of the share that b lies in, or -1. p.mu is held.
func (p *Proc) find(b []byte) int {
	at := mem.Addr(b)
	i := sort.Search(len(p.shares), func(i int) bool { return mem.Addr(p.shares[i].Bytes) > at }) - 1
	if i >= 0 && at+uint64(len(b)) <= mem.Addr(p.shares[i].Bytes)+uint64(len(p.shares[i].Bytes)) {
		return i
	}
	return -1
}

// locate returns where b lies, for the peer that it is offered to: shared memory and an offset in
// it, which the peer may map and read from now on, or id 0 and an address.
func (p *Proc) locate(to int, b []byte) (id uint32, addr uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(b); i >= 0 && p.shares[i].id != 0 {
		p.memory.Grant(p.shares[i].id, to)
		return p.shares[i].id, mem.Addr(b) - mem.Addr(p.shares[i].Bytes)
	}
	return 0, mem.Addr(b)
}

// sharedWith returns shared memory of this rank by its number.
func (p *Proc) sharedWith(id uint32) *transport.Mapping {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shares {
		if id != 0 && s.id == id {
			return s.Mapping
		}
	}
	return nil
}
