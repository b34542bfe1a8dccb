package weft

import (
	"fmt"
	"sort"

	"weft/internal/mem"
)

// A share is memory that peers on this host can map.
type share struct {
	mem []byte
	id  uint32 // 0: ordinary memory, because there is nothing to share it by
}

// Alloc returns n bytes of zeroed memory that ranks on the same host can read
// without a system call: a message sent from it is copied once. It is rounded
// up to pages, so it is for long messages.
func (p *Proc) Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, &ConfigError{Field: "size", Value: n, Min: 0, Max: 1 << 40}
	}
	s, err := p.share(max(n, 1))
	if err != nil {
		return nil, err
	}
	return s.mem[:n], nil
}

// Free gives back memory from Alloc. It must not be used any more.
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
	if i < 0 || mem.Addr(s.mem) != mem.Addr(b) {
		return fmt.Errorf("weft: Free of memory that Alloc did not return")
	}
	return p.unshare(s)
}

// share makes shared memory and remembers where it lies.
func (p *Proc) share(n int) (s share, err error) {
	if p.node.Closing() {
		return s, ErrClosed
	}
	if p.memory != nil {
		s.id, s.mem, err = p.memory.Share(n)
	} else {
		s.mem = mem.Aligned((n + 4095) &^ 4095)
	}
	if err != nil {
		return s, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := mem.Addr(s.mem)
	i := sort.Search(len(p.shares), func(i int) bool { return mem.Addr(p.shares[i].mem) > at })
	p.shares = append(p.shares, share{})
	copy(p.shares[i+1:], p.shares[i:])
	p.shares[i] = s
	return s, nil
}

func (p *Proc) unshare(s share) error {
	p.mu.Lock()
	if i := p.find(s.mem); i >= 0 {
		p.shares = append(p.shares[:i], p.shares[i+1:]...)
	}
	p.mu.Unlock()
	if p.node.Closing() {
		return ErrClosed // Close takes it
	}
	if s.id == 0 {
		return nil
	}
	return p.memory.Unshare(s.id)
}

// find returns the index of the share that b lies in, or -1. p.mu is held.
func (p *Proc) find(b []byte) int {
	at := mem.Addr(b)
	i := sort.Search(len(p.shares), func(i int) bool { return mem.Addr(p.shares[i].mem) > at }) - 1
	if i >= 0 && at+uint64(len(b)) <= mem.Addr(p.shares[i].mem)+uint64(len(p.shares[i].mem)) {
		return i
	}
	return -1
}

// locate says where b lies for peers that can read our memory: in shared
// memory at an offset, or at an address.
func (p *Proc) locate(b []byte) (id uint32, addr uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(b); i >= 0 && p.shares[i].id != 0 {
		return p.shares[i].id, mem.Addr(b) - mem.Addr(p.shares[i].mem)
	}
	return 0, mem.Addr(b)
}

// sharedWith returns our own shared memory by number.
func (p *Proc) sharedWith(id uint32) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shares {
		if id != 0 && s.id == id {
			return s.mem
		}
	}
	return nil
}
