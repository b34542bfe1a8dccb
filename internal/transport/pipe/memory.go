package pipe

import (
	"fmt"
	"maps"
	"sync"

	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/transport"
)

// memory is what the ranks of a network share.
type memory struct {
	mu     sync.Mutex
	last   uint32
	shared map[place]*area
}

// A place is where memory is found: at a rank, by a number.
type place struct {
	rank int
	id   uint32
}

// An area is memory of a rank that others can map.
type area struct {
	m       *transport.Mapping
	key     uint64 // that others must know, or 0
	granted map[int]bool
}

// A Host is memory that ranks of one process share, without a network between them.
type Host struct{ memory }

// NewHost returns a host without ranks.
func NewHost() *Host { return &Host{memory{shared: map[place]*area{}}} }

// Memory returns the host's memory as a rank sees it.
func (h *Host) Memory(rank int) transport.Memory { return view{rank, &h.memory} }

// Leave ends what a rank shares: it can be mapped no more. A mapping that is there stays.
func (h *Host) Leave(rank int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.shared, func(at place, _ *area) bool { return at.rank == rank })
}

// view is the memory as one rank sees it. It implements transport.Memory.
type view struct {
	rank   int
	memory *memory
}

// Memory gives access to the memory of the other ranks, if the network allows.
func (t *Transport) Memory() transport.Memory {
	if !t.caps.Direct {
		return nil
	}
	return &t.view
}

func (v view) Share(n int, readOnly bool) (uint32, *transport.Mapping, error) {
	m := v.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	if uint64(n) > sys.Memory() {
		return 0, nil, transport.ErrNoMemory
	}
	a := &area{m: transport.NewMapping(mem.Aligned((n+4095)&^4095), readOnly, nil), granted: map[int]bool{}}
	m.shared[place{v.rank, m.last}] = a
	return m.last, a.m, nil
}

// change lets f change an area of this rank, if it is there.
func (v view) change(id uint32, f func(a *area)) bool {
	m := v.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.shared[place{v.rank, id}]
	if a != nil {
		f(a)
	}
	return a != nil
}

func (v view) Admit(id uint32, key uint64) { v.change(id, func(a *area) { a.key = key }) }

func (v view) Grant(id uint32, peer int) { v.change(id, func(a *area) { a.granted[peer] = true }) }

func (v view) Unshare(id uint32) error {
	if !v.change(id, func(a *area) {
		a.m.Retire()
		delete(v.memory.shared, place{v.rank, id})
	}) {
		return fmt.Errorf("weft: pipe: there is no shared memory %d", id)
	}
	return nil
}

func (v view) Map(peer int, id uint32, key uint64, readOnly bool) (*transport.Mapping, error) {
	m := v.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.shared[place{peer, id}]
	switch {
	case a == nil || (key == 0 || key != a.key) && !a.granted[v.rank]:
		return nil, fmt.Errorf("weft: pipe: rank %d shares no memory %d with rank %d", peer, id, v.rank)
	case !readOnly && (a.m.ReadOnly || key != a.key):
		return nil, fmt.Errorf("weft: pipe: memory %d of rank %d can only be read", id, peer)
	}
	return a.m, nil
}

// Mapped returns 0: the ranks are in one process, and their memory is counted where
// it is shared.
func (v view) Mapped() uint64 { return 0 }

// Attend does nothing: no memory can be read, so nobody asks.
func (v view) Attend(polls bool) {}

// Attends returns false.
func (v view) Attends(peer int) bool { return false }

func (v view) Read(peer int, addr uint64, dst []byte) error { return transport.ErrNoAccess }
