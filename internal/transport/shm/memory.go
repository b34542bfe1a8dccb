package shm

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
)

// An area is memory of this process that peers can map.
type area struct {
	fd      int
	m       *transport.Mapping
	key     uint64         // that peers must know, or 0
	granted map[int]bool   // ranks that need know none
	holders map[*peer]bool // that have been given the descriptor
}

// Memory gives access to the memory of peers.
func (t *Transport) Memory() transport.Memory { return t }

// kept is memory of this process, taken back because its Transport was closed and not
// because the program said so: the program may go on using the addresses.
var kept []*transport.Mapping // guarded by keeping
var keeping sync.Mutex

// unmap ends a mapping to which nothing refers.
func unmap(b []byte) { _ = sys.Unmap(b) }

// retire takes memory back. Goroutines that are using it at this moment hold no lock,
// so it is not unmapped under them: empty memory of this process takes its place.
func retire(m *transport.Mapping) {
	m.Retire()
	_ = sys.Vacate(m.Bytes) // or the kernel has no memory: then it stays until nothing refers to it
	if retired.Add(1)%collectAfter == 0 {
		go runtime.GC()
	}
}

// A process has 65,530 mappings (vm.max_map_count), unless it is told otherwise, and dies
// when it needs another. Mappings that are retired are unmapped by the garbage collector,
// which does not know of that limit. So it is run after every collectAfter of them.
var retired atomic.Int64

const collectAfter = 4096

// maxAreas is how many areas a process shares at a time, and how many of one peer it
// maps, for the same reason. Memory beyond that is reached by packets.
const maxAreas = 8192

// errTooMany reports that so many are mapped.
var errTooMany = fmt.Errorf("weft: shm: %d pieces of its memory are mapped already", maxAreas)

// Share makes memory that peers can map.
func (t *Transport) Share(n int, readOnly bool) (id uint32, m *transport.Mapping, err error) {
	t.mu.Lock()
	most := min(maxAreas, sys.MaxFDs()/2) // the other half is for the program, and to reach peers
	full := len(t.shared) >= most
	t.mu.Unlock()
	if full {
		return 0, nil, fmt.Errorf("weft: shm: %d pieces of memory are shared already: %w", most, transport.ErrNoMemory)
	}
	fd, mem, err := sys.NewMemory("weft-region", (n+page-1)/page*page, readOnly)
	if err != nil {
		return 0, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		sys.CloseFD(fd)
		unmap(mem)
		return 0, nil, net.ErrClosed
	}
	t.lastID++
	a := &area{
		fd: fd, m: transport.NewMapping(mem, false, unmap), granted: map[int]bool{}, holders: map[*peer]bool{},
	}
	t.shared[t.lastID] = a
	return t.lastID, a.m, nil
}

// Admit lets peers that know the key map memory.
func (t *Transport) Admit(id uint32, key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.shared[id]; a != nil {
		a.key = key
	}
}

// Grant lets a peer map memory.
func (t *Transport) Grant(id uint32, peer int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.shared[id]; a != nil {
		a.granted[peer] = true
	}
}

// descriptor returns a descriptor by which a peer that has named a key may map an area, or -1.
// Memory for reading only is sealed, so the kernel lets no descriptor write to it.
func (a *area) descriptor(rank int, key uint64) int {
	switch {
	case a == nil:
	case key != 0 && key == a.key:
		return sys.DupFD(a.fd)
	case a.granted[rank]:
		return sys.ReadOnlyFD(a.fd)
	}
	return -1
}

// Unshare takes shared memory back, and tells the peers that may have it mapped.
func (t *Transport) Unshare(id uint32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.shared[id]
	if a == nil {
		return fmt.Errorf("weft: shm: there is no shared memory %d", id)
	}
	for p := range a.holders {
		t.tell(p, record{kind: gone, id: id, fd: -1})
	}
	t.release(id, a)
	return nil
}

// release gives up memory that this process has shared: peers that have mapped it keep it until they unmap it.
func (t *Transport) release(id uint32, a *area) {
	delete(t.shared, id)
	sys.CloseFD(a.fd)
	retire(a.m)
}

// errNoMemory reports memory that the peer does not share with this process.
var errNoMemory = errors.New("weft: shm: the peer shares no such memory with this rank")

// A view is how a peer's memory is mapped.
type view struct {
	id       uint32
	readOnly bool
}

// A request is a "want" whose answer a goroutine waits for.
type request struct {
	view
	got chan answer
}

type answer struct {
	m   *transport.Mapping
	err error
}

// Map makes a peer's shared memory visible here.
func (t *Transport) Map(rank int, id uint32, key uint64, readOnly bool) (*transport.Mapping, error) {
	t.mu.Lock()
	p := t.peers[rank]
	t.mu.Unlock()
	if p == nil {
		return nil, fmt.Errorf("rank %d: %w", rank, transport.ErrUnknownPeer)
	}
	m, err := t.mapped(p, id, readOnly)
	if m != nil || err != nil {
		return m, err
	}
	p.asking.Lock() // one at a time, so that the peer need not remember many
	defer p.asking.Unlock()
	m, err = t.mapped(p, id, readOnly)
	if m != nil || err != nil {
		return m, err
	}
	r := &request{view{id, readOnly}, make(chan answer, 1)}
	t.mu.Lock()
	p.request = r
	t.tell(p, record{kind: want, id: id, key: key, fd: -1})
	t.mu.Unlock()
	select {
	case a := <-r.got:
		return a.m, a.err
	case <-time.After(handshake.Timeout):
		err = fmt.Errorf("weft: shm: rank %d does not answer", rank)
	case <-t.done:
		err = net.ErrClosed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.request == r {
		p.request = nil
	}
	return nil, err
}

// mapped returns a mapping that is there already, or nil.
func (t *Transport) mapped(p *peer, id uint32, readOnly bool) (*transport.Mapping, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.exited.Load() {
		return nil, fmt.Errorf("weft: shm: rank %d: %w", p.rank, errGone)
	}
	return p.mapped[view{id, readOnly}], nil
}

// Mapped returns how many bytes of peers are mapped here.
func (t *Transport) Mapped() (n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		for _, m := range p.mapped {
			n += uint64(len(m.Bytes))
		}
	}
	return n
}

// Read copies from a peer's ordinary memory.
func (t *Transport) Read(rank int, addr uint64, dst []byte) error {
	p := t.out.Get(rank)
	if p == nil {
		return fmt.Errorf("rank %d: %w", rank, transport.ErrUnknownPeer)
	}
	if p.noRead.Load() {
		return transport.ErrNoAccess
	}
	err := sys.ReadProcess(p.pid, addr, dst)
	if errors.Is(err, sys.ErrForbidden) {
		p.noRead.Store(true)
		return transport.ErrNoAccess
	}
	return err
}
