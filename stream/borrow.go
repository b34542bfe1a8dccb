package stream

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"weft/internal/sys"
)

// A place is where a connection lies: a slot of an arena. The listener writes it to the bell before it offers the
// memory (PROTOCOL §11.1).
type place struct {
	layout
	n    int
	turn uint32
}

// placeBytes is the length of a place on the bell: four numbers of 4 bytes.
const placeBytes = 16

// sendPlace writes a place to a new bell, in which there is room.
func sendPlace(bell int, p place) error {
	var b [placeBytes]byte
	binary.LittleEndian.PutUint32(b[:], uint32(p.slots))
	binary.LittleEndian.PutUint32(b[4:], uint32(p.buffer))
	binary.LittleEndian.PutUint32(b[8:], uint32(p.n))
	binary.LittleEndian.PutUint32(b[12:], p.turn)
	_, err := syscall.Write(bell, b[:])
	return err
}

// errNoPlace says that a bell has no place on it, or that the listener has left it.
var errNoPlace = errors.New("nothing is lent")

// receivePlace reads what sendPlace has written. The place is sound.
func receivePlace(bell int) (p place, err error) {
	var b [placeBytes]byte
	var got sys.Receiver
	if !got.Receive(uintptr(bell), b[:]) || got.Errno != nil || got.N != placeBytes {
		closeFDs(got.FDs[:])
		return p, errNoPlace
	}
	closeFDs(got.FDs[:])
	p.slots = int(binary.LittleEndian.Uint32(b[:]))
	p.buffer = int(binary.LittleEndian.Uint32(b[4:]))
	p.n = int(binary.LittleEndian.Uint32(b[8:]))
	p.turn = binary.LittleEndian.Uint32(b[12:])
	if !p.sound() || p.n >= p.slots || p.turn == 0 || p.turn > mostTurns {
		return p, ErrCorrupt
	}
	return p, nil
}

// borrowed has the arenas of other processes in which connections of this one lie.
var borrowed = borrowing{arenas: map[sys.MemoryID]*arena{}}

type borrowing struct {
	mu     sync.Mutex
	arenas map[sys.MemoryID]*arena
}

// take takes a place in memory, which it maps if no other connection has done so. It closes the memory's descriptor,
// and owns far: the bell of the arena's hub, or -1. The error is ErrCorrupt if the memory is not as the place says.
func (b *borrowing) take(fd, far int, p place) (slot, error) {
	defer func() { closeFDs([]int{far}) }()
	id, err := sys.IdentifyMemory(fd)
	if err != nil {
		sys.CloseFD(fd)
		return slot{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.arenas[id]
	if a != nil {
		sys.CloseFD(fd)
	} else if a, err = mapArena(fd, id, p.layout); err != nil {
		return slot{}, err
	}
	switch {
	case a.layout != p.layout:
		err = ErrCorrupt
	case !claim(a.state(p.n), p.turn):
		err = errNoPlace
	default:
		a.users++
		b.arenas[id] = a
		if far >= 0 && a.slots > 1 && a.hub.Load() == nil {
			a.hub.Store(newHub(a, borrower, far))
			far = -1
		}
		return slot{a, p.n, borrower}, nil
	}
	b.release(a)
	return slot{}, err
}

// mapArena maps an arena, and closes its descriptor.
func mapArena(fd int, id sys.MemoryID, y layout) (*arena, error) {
	if !reserve() {
		sys.CloseFD(fd)
		return nil, syscall.ENOMEM
	}
	mem, err := sys.MapMemory(fd, false)
	if err != nil {
		mapped.Add(-1)
		return nil, err
	}
	a := &arena{layout: y, mem: mem, fd: -1, far: -1, id: id, conns: make([]atomic.Pointer[Conn], y.slots)}
	if len(mem) != y.bytes() {
		sys.Unmap(mem)
		mapped.Add(-1)
		return nil, ErrCorrupt
	}
	return a, nil
}

// leave takes one connection out of an arena.
func (b *borrowing) leave(a *arena) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.users--
	b.release(a)
}

// release gives an arena back in which no connection of this process lies. mu is held.
func (b *borrowing) release(a *arena) {
	if a.users > 0 {
		return
	}
	delete(b.arenas, a.id)
	a.giveBack()
}
