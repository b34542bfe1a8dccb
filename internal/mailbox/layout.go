package mailbox

import (
	"fmt"
	"sync/atomic"

	"weft/internal/mem"
)

// Grain is what rings are given out in, bytes: the line of a cache.
const Grain = 64

// Inline is how many bytes travel in the record itself, and take no room in a ring.
const Inline = 40

// Limits of a mailbox.
const (
	MaxRings = 1 << 15
	MaxSlots = 1 << 24
)

// A Geometry says how large a mailbox is.
type Geometry struct {
	Ranks int // of the job: entries of the AMT Address Table
	Lines int // senders that may map the memory at a time
	Rings int // entries of the AMT
	Slots int // records in the status ring, a power of two
	Room  int // bytes for rings, a multiple of Grain
}

// The header. Words with different writers are on different cache lines.
type header struct {
	magic    atomic.Uint64
	geometry [5]atomic.Uint64
	_        [2]uint64
	claim    atomic.Uint64 // see promise
	_        [7]uint64
	head     atomic.Uint64 // of the status ring
	_        [7]uint64
	waits    atomic.Uint64 // the owner sleeps: knock
	_        [7]uint64
	wants    atomic.Uint64 // senders wait for room
	_        [7]uint64
}

// An entry is one of the AMT: what the owner says of a ring, Tail, and Head.
type entry struct {
	base, size atomic.Uint64
	share      atomic.Uint64 // how many senders the table gives it
	_          [5]uint64
	tail       atomic.Uint64
	_          [7]uint64
	head       atomic.Uint64
	_          [7]uint64
}

// A line is a sender's.
type line struct {
	owner atomic.Uint64 // its rank, plus 1
	busy  atomic.Uint64 // it may be writing
	pid   atomic.Uint64
	_     [5]uint64
}

// A slot is a record in the status ring. The word publishes it: the ticket plus 1 in
// the lower half, then the ring and the flags.
type slot struct {
	word atomic.Uint64
	from atomic.Uint64 // source, and length in the upper half
	tag  atomic.Uint64
	rest [Inline / 8]atomic.Uint64 // the bytes; or position, offset and total
}

const page = 4096

const magic = 0x77656674626f7802

// A Box is a view of a mailbox's memory.
type Box struct {
	Geometry
	*header
	table []atomic.Uint64 // two entries of 32 bits in a word
	lines []line
	amt   []entry
	slots []slot
	room  []byte
}

// Size returns how much memory a mailbox takes.
func (g Geometry) Size() int {
	_, size := g.place(nil)
	return size
}

// place lays a mailbox out, and returns how much memory it takes; there is none if
// memory is nil.
func (g Geometry) place(memory []byte) (b Box, size int) {
	b.Geometry = g
	part := func(n int) (from int) {
		from = size
		size = size + (n+Grain-1)/Grain*Grain
		return from
	}
	head := part(mem.Size[header]())
	table := part(4*g.Ranks + 4)
	lines := part(g.Lines * mem.Size[line]())
	amt := part(g.Rings * mem.Size[entry]())
	slots := part(g.Slots * mem.Size[slot]())
	size = (size + page - 1) / page * page // long copies are faster between pages
	room := part(g.Room)
	if memory == nil {
		return b, size
	}
	b.header = mem.At[header](memory, head)
	b.table = mem.View[atomic.Uint64](memory[table:], (g.Ranks+1)/2)
	b.lines = mem.View[line](memory[lines:], g.Lines)
	b.amt = mem.View[entry](memory[amt:], g.Rings)
	b.slots = mem.View[slot](memory[slots:], g.Slots)
	b.room = memory[room : room+g.Room : room+g.Room]
	return b, size
}

// valid reports whether a geometry is within limits, so that sizes do not overflow.
func (g Geometry) valid() bool {
	return g.Ranks >= 1 && g.Ranks <= 1<<24 && g.Lines >= 1 && g.Lines <= 1<<16 && g.Rings >= 1 && g.Rings <= MaxRings &&
		g.Slots >= 2 && g.Slots <= MaxSlots && g.Slots&(g.Slots-1) == 0 && g.Room >= 0 && g.Room <= 1<<40 && g.Room%Grain == 0
}

// New makes a mailbox in zeroed memory. No sender has a ring yet, and no ring has
// memory.
func New(memory []byte, g Geometry) (*Box, error) {
	if !g.valid() || len(memory) < g.Size() {
		return nil, fmt.Errorf("weft: %d bytes do not hold a mailbox of %+v", len(memory), g)
	}
	b, _ := g.place(memory)
	for i, v := range []int{g.Ranks, g.Lines, g.Rings, g.Slots, g.Room} {
		b.geometry[i].Store(uint64(v))
	}
	b.magic.Store(magic)
	return &b, nil
}

// At returns the mailbox that another process has made in memory that is mapped
// here. The memory is not trusted.
func At(memory []byte) (*Box, error) {
	bad := fmt.Errorf("weft: %d bytes that are not a mailbox, or one of another version of weft", len(memory))
	if len(memory) < mem.Size[header]() {
		return nil, bad
	}
	h := mem.At[header](memory, 0)
	if h.magic.Load() != magic {
		return nil, bad
	}
	var v [5]int
	for i := range v {
		v[i] = int(h.geometry[i].Load())
	}
	g := Geometry{v[0], v[1], v[2], v[3], v[4]}
	if !g.valid() || len(memory) < g.Size() {
		return nil, bad
	}
	b, _ := g.place(memory)
	return &b, nil
}

// slot returns the record of a ticket.
func (b *Box) slot(ticket uint32) *slot { return &b.slots[ticket&uint32(len(b.slots)-1)] }
