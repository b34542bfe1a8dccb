package weft

import "fmt"

// Alloc returns n bytes of zeroed memory that ranks on the same host can map. A message of more
// than 32 KiB that is sent from it is copied only once, and without a system call. Alloc
// rounds up to pages, so it is meant for long messages. A rank on this host to which such a
// message is sent can read the whole memory, but cannot write to it. N is at most 1 TiB.
func (p *Proc) Alloc(n int) ([]byte, error) {
	if n < 0 || n > 1<<40 {
		return nil, &ConfigError{Field: "size", Value: n, Min: 0, Max: 1 << 40}
	}
	s, err := p.memory.Share(max(n, 1), true)
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
	s, ok := p.memory.Starting(b)
	if !ok {
		return fmt.Errorf("weft: Free: Alloc has not returned this memory, or it has been freed")
	}
	return p.memory.Drop(s)
}
