package endpoint

import "sync"

// What others may do with registered memory, as libfabric has it.
const (
	RemoteRead  = 1 << 12 // FI_REMOTE_READ
	RemoteWrite = 1 << 13 // FI_REMOTE_WRITE
)

// A Memory is what a program has registered in a domain: endpoints of others access it by its keys.
type Memory struct {
	mu      sync.Mutex // also of what atomic operations do
	regions map[uint64]region
}

type region struct {
	bytes  []byte
	access uint64
	writes *Counter
}

// Register offers memory under a key. The program keeps it until Drop.
func (m *Memory) Register(key uint64, bytes []byte, access uint64) Errno {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.regions[key]; taken {
		return ErrNoKey
	}
	if m.regions == nil {
		m.regions = map[uint64]region{}
	}
	m.regions[key] = region{bytes: bytes, access: access}
	return ErrNone
}

// Count counts what others write to memory.
func (m *Memory) Count(key uint64, writes *Counter) Errno {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.regions[key]
	if !ok {
		return ErrNoKey
	}
	r.writes = writes
	m.regions[key] = r
	return ErrNone
}

// Drop takes memory back.
func (m *Memory) Drop(key uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.regions, key)
}

// find returns n bytes of memory that begin at an offset, and what counts writes to it.
func (m *Memory) find(key, at, n, access uint64) ([]byte, *Counter, Errno) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.regions[key]
	switch {
	case !ok:
		return nil, nil, ErrNoKey
	case r.access&access != access, at > uint64(len(r.bytes)), n > uint64(len(r.bytes))-at:
		return nil, nil, ErrAccess
	}
	return r.bytes[at : at+n : at+n], r.writes, ErrNone
}
