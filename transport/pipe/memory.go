package pipe

import (
	"fmt"
	"sync"

	"weft/internal/mem"
	"weft/transport"
)

// memory is what the ranks of a network share.
type memory struct {
	mu     sync.Mutex
	last   uint32
	shared map[key][]byte
}

type key struct {
	rank int
	id   uint32
}

// view is the memory as one rank sees it. It implements transport.Memory.
type view struct{ t *Transport }

// Memory gives access to the memory of the other ranks, if the network allows.
func (t *Transport) Memory() transport.Memory {
	if !t.caps.Direct {
		return nil
	}
	return view{t}
}

func (v view) Share(n int) (uint32, []byte, error) {
	m := &v.t.net.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	b := mem.Aligned((n + 4095) &^ 4095)
	m.shared[key{v.t.rank, m.last}] = b
	return m.last, b, nil
}

func (v view) Unshare(id uint32) error {
	m := &v.t.net.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key{v.t.rank, id}
	if m.shared[k] == nil {
		return fmt.Errorf("weft: pipe: there is no shared memory %d", id)
	}
	delete(m.shared, k)
	return nil
}

func (v view) Map(peer int, id uint32) ([]byte, error) {
	m := &v.t.net.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.shared[key{peer, id}]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("weft: pipe: rank %d shares no memory %d", peer, id)
}

func (v view) Read(peer int, addr uint64, dst []byte) error { return transport.ErrNoAccess }
