package mailbox

import (
	"fmt"

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
	Lines int // senders that may map the memory at a time; line 0 is the owner's
	Rings int // entries of the AMT
	Slots int // records in the status ring, a power of two
	Room  int // bytes for rings, a multiple of Grain
}

// The header. Words with different writers are on different cache lines.
const (
	offMagic  = 0 // then the geometry
	offClaim  = 1 * Grain
	offHead   = 2 * Grain
	offWaits  = 3 * Grain // the owner sleeps: knock
	offWants  = 4 * Grain // senders wait for room
	offTables = 5 * Grain

	magic = 0x77656674626f7801
)

// An entry of the AMT has three lines: what the owner says of it, Tail, and Head.
const (
	atBase   = 0
	atSize   = 8
	atShare  = 16 // how many senders the table gives it
	atTail   = Grain
	atHead   = 2 * Grain
	ringSize = 3 * Grain
)

// A sender's line.
const (
	atOwner  = 0 // its rank, plus 1
	atPID    = 40
	atBusy   = 8
	atRing   = 16 // what it is about to reserve: the ring plus 1, where, how much
	atPos    = 24
	atLen    = 32
	lineSize = Grain
)

const slotSize = Grain

// A Box is a view of a mailbox's memory.
type Box struct {
	mem []byte
	Geometry
	table, lines, amt, slots, room int // where each begins
}

// Size returns how much memory a mailbox takes.
func (g Geometry) Size() int {
	_, size := g.place(nil)
	return size
}

func (g Geometry) place(memory []byte) (Box, int) {
	b := Box{mem: memory, Geometry: g}
	b.table = offTables
	b.lines = b.table + (4*g.Ranks+Grain-1)/Grain*Grain
	b.amt = b.lines + lineSize*g.Lines
	b.slots = b.amt + ringSize*g.Rings
	b.room = b.slots + slotSize*g.Slots
	return b, b.room + g.Room
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
	b, size := g.place(memory)
	b.mem = memory[:size:size]
	for i, v := range []int{g.Ranks, g.Lines, g.Rings, g.Slots, g.Room} {
		b.store(offMagic+8*(i+1), uint64(v))
	}
	b.store(offMagic, magic)
	return &b, nil
}

// At returns the mailbox that another process has made in memory that is mapped
// here. The memory is not trusted.
func At(memory []byte) (*Box, error) {
	bad := fmt.Errorf("weft: %d bytes that are not a mailbox, or one of another version of weft", len(memory))
	if len(memory) < offTables || mem.Load64(memory, offMagic) != magic {
		return nil, bad
	}
	var v [5]int
	for i := range v {
		v[i] = int(mem.Load64(memory, offMagic+8*(i+1)))
	}
	g := Geometry{v[0], v[1], v[2], v[3], v[4]}
	if !g.valid() || len(memory) < g.Size() {
		return nil, bad
	}
	b, size := g.place(memory)
	b.mem = memory[:size:size]
	return &b, nil
}

func (b *Box) load(off int) uint64     { return mem.Load64(b.mem, off) }
func (b *Box) store(off int, v uint64) { mem.Store64(b.mem, off, v) }
func (b *Box) swap(off int, old, v uint64) bool {
	return mem.CompareAndSwap64(b.mem, off, old, v)
}

func (b *Box) ring(i int) int { return b.amt + ringSize*i }
func (b *Box) line(i int) int { return b.lines + lineSize*i }

// slot returns where the record of a ticket lies.
func (b *Box) slot(ticket uint32) int {
	return b.slots + slotSize*int(ticket&uint32(b.Slots-1))
}
