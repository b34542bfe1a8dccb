package stream

import (
	"sync/atomic"

	"weft/internal/mem"
	"weft/internal/sys"
)

// Connections between the same two processes share memory, so that a process has few mappings however many connections
// it has. An arena is one piece of it, cut into slots of equal size; a connection lies in one slot while it is in
// memory. The listener's process makes arenas and lends their slots to connections (lend.go); the dialler's process
// maps an arena once for all connections that lie in it (borrow.go). No third process ever has an arena.
//
// Each slot has a word of state in the arena, in which both ends note that they use it (PROTOCOL §11.1). The end that
// leaves last gives the slot's memory back to the kernel, and then makes the word 0: the slot can be lent again. After
// the death of a process its slots stay taken, and the arena is given back with the last connection that lies in it.

// What a slot's state consists of: which ends use it, and its turn, the number of times that it has been lent.
const (
	lender    = 1 << iota // the listener's end uses the slot
	borrower              // the dialler's end does
	turnShift = iota
)

// mostTurns is the greatest turn; 1 follows it.
const mostTurns = 1<<(32-turnShift) - 1

// mostArena is how many bytes an arena of several slots has at most. They take no memory before they are touched.
const mostArena = 2 << 30

// A layout is how an arena is cut: slots for connections whose rings have buffer bytes each. The states come before the
// slots. An arena of one slot has its state in the part of the slot's page of words that no ring uses.
type layout struct{ slots, buffer int }

// start returns where the slots begin.
func (y layout) start() int {
	if y.slots == 1 {
		return 0
	}
	const page = 4096
	return (y.hubAt(borrower) + y.hubBytes() + page - 1) &^ (page - 1)
}

// hubAt returns where the words of one side's hub lie: behind the states, the lender's first.
func (y layout) hubAt(side uint32) int {
	at := (4*y.slots + 63) &^ 63
	if side == borrower {
		at += y.hubBytes()
	}
	return at
}

// bytes returns the size of the arena.
func (y layout) bytes() int { return y.start() + y.slots*memoryBytes(y.buffer) }

// sound reports whether an arena can have this layout.
func (y layout) sound() bool {
	return checkBuffer(y.buffer) == nil &&
		(y.slots == 1 || y.slots > 1 && y.slots <= mostArena/memoryBytes(y.buffer) && y.bytes() <= mostArena)
}

// An arena is memory that this process shares with one other process, as it is mapped here.
type arena struct {
	layout
	mem   []byte
	users int // ends of connections here that use it

	hub   atomic.Pointer[hub]    // nil where there is none: in an arena of one slot, or before it has come
	conns []atomic.Pointer[Conn] // by slot: those here that the hub wakes

	debtor  debtor // at a lender: the process that it is lent to; and
	fd      int    // its descriptor while slots can be lent, else -1;
	far     int    // the other end of the hub's bell before it has been passed, else -1;
	turns   []uint32
	free    []int // slots that nobody uses,
	awaited []int // and slots that only the dialler's end uses, as far as known

	id sys.MemoryID // at a borrower
}

// state returns the state of a slot.
func (a *arena) state(n int) *uint32 { return mem.Word32(a.mem, 4*n) }

// A slot is a connection's part of an arena, at one end.
type slot struct {
	arena *arena
	n     int
	side  uint32 // lender or borrower
}

// mem returns the slot's memory.
func (s slot) mem() []byte {
	size := memoryBytes(s.arena.buffer)
	at := s.arena.start() + s.n*size
	return s.arena.mem[at : at+size : at+size]
}

// depart takes one side out of the state of a slot, and reports whether the other one has left already: the caller is
// the last, and nobody enters before it has made the state 0.
func depart(state *uint32, side uint32) (last bool) {
	return atomic.AndUint32(state, ^side)&(lender|borrower)&^side == 0
}

// claim adds the borrower to the state of a slot that it was lent at a turn. It fails if the lender has left.
func claim(state *uint32, turn uint32) bool {
	return atomic.CompareAndSwapUint32(state, turn<<turnShift|lender, turn<<turnShift|lender|borrower)
}

// giveBack gives an arena back to the kernel in which this process has no connection.
func (a *arena) giveBack() {
	if h := a.hub.Load(); h != nil {
		h.close()
	}
	closeFDs([]int{a.fd, a.far})
	sys.Unmap(a.mem)
	mapped.Add(-1)
}

// hold lets the hub wake a connection that uses the slot.
func (s slot) hold(c *Conn) {
	s.arena.conns[s.n].Store(c)
	if h := s.arena.hub.Load(); h != nil {
		h.attend(c)
	}
}

// leave gives the slot back. Nothing at this end touches its memory any more.
func (s slot) leave() {
	s.arena.conns[s.n].Store(nil)
	last := depart(s.arena.state(s.n), s.side)
	if last {
		if s.arena.slots > 1 {
			sys.Discard(s.mem())
		}
		atomic.StoreUint32(s.arena.state(s.n), 0)
	}
	if s.side == lender {
		lent.leave(s, last)
	} else {
		borrowed.leave(s.arena)
	}
}
