package hostbarrier

import (
	"sync"

	"weft/internal/mem"
)

// An Arena is memory in which a rank places the counts of the barriers whose first member on its host it is. The other
// members map an arena once, for all barriers in it. So a new name costs neither a descriptor nor a mapping.
//
// The memory begins with a table. Each entry is the ID of a barrier, and where its counts are. Only the rank that has
// the arena writes to the table; the other members look there after all have met.
type Arena struct {
	mu      sync.Mutex
	memory  []byte
	end     int           // memory from here on has never been used
	free    map[int][]int // where counts can be placed again, by their size
	closing []place       // counts of which members have not let go
}

// A place is where the counts of n members are.
type place struct{ at, n int }

// Where things are in an arena.
const (
	atArenas  = 0 // in the first arena of a rank: how many it has
	atEntries = 64
	entries   = 512
	entrySize = 16
	atPlaces  = atEntries + entries*entrySize
)

// ArenaSize returns how many bytes of memory an arena needs that has room for a barrier of n members on one host.
func ArenaSize(n int) int { return max(1<<18, atPlaces+Size(n)) }

// NewArena returns an arena in memory that is all zeroes.
func NewArena(memory []byte) *Arena {
	return &Arena{memory: memory, end: atPlaces, free: map[int][]int{}}
}

// SetArenas says in the first arena of a rank how many arenas the rank has.
func SetArenas(first []byte, n int) { mem.Store64(first, atArenas, uint64(n)) }

// Arenas returns how many arenas a rank has, from the memory of its first one.
func Arenas(first []byte) int { return int(min(mem.Load64(first, atArenas), 1<<16)) }

// Place makes room for the counts of a barrier of n members, and returns it, or nil if there is none.
func (a *Arena) Place(id uint64, n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reclaim()
	for i := range entries {
		e := atEntries + i*entrySize
		if mem.Load64(a.memory, e) != 0 {
			continue
		}
		at, ok := a.take(Size(n))
		if !ok {
			return nil
		}
		mem.Store64(a.memory, e+8, uint64(at))
		mem.Store64(a.memory, e, id)
		return a.memory[at:][:Size(n)]
	}
	return nil
}

// take returns where size bytes of zeroes are that nothing uses.
func (a *Arena) take(size int) (at int, ok bool) {
	if list := a.free[size]; len(list) > 0 {
		at = list[len(list)-1]
		a.free[size] = list[:len(list)-1]
		clear(a.memory[at:][:size])
		return at, true
	}
	if at = a.end; at+size > len(a.memory) {
		return 0, false
	}
	a.end += size
	return at, true
}

// Remove takes a barrier of n members out of the table, and reports whether it was there. Its memory is used again when
// all members have let go of it; that of a member that has died stays.
func (a *Arena) Remove(id uint64, n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range entries {
		if e := atEntries + i*entrySize; mem.Load64(a.memory, e) == id {
			at := int(mem.Load64(a.memory, e+8))
			mem.Store64(a.memory, e, 0)
			a.closing = append(a.closing, place{at, n})
			return true
		}
	}
	return false
}

// reclaim looks at some of the places that are to be used again, in turn.
func (a *Arena) reclaim() {
	const some = 4
	for range min(some, len(a.closing)) {
		p := a.closing[0]
		a.closing = a.closing[1:]
		if released(a.memory[p.at:], p.n) {
			a.free[Size(p.n)] = append(a.free[Size(p.n)], p.at)
		} else {
			a.closing = append(a.closing, p)
		}
	}
}

// Find returns where the counts of a barrier of n members are in an arena of another rank, or nil.
func Find(arena []byte, id uint64, n int) []byte {
	if len(arena) < atPlaces {
		return nil
	}
	for i := range entries {
		e := atEntries + i*entrySize
		if mem.Load64(arena, e) != id {
			continue
		}
		at := mem.Load64(arena, e+8)
		if at < atPlaces || at%stride != 0 || at > uint64(len(arena)) || uint64(len(arena))-at < uint64(Size(n)) {
			return nil
		}
		return arena[at:][:Size(n)]
	}
	return nil
}
