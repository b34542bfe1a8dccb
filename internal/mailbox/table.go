package mailbox

import "weft/internal/mem"

// NoRing is the ring of a sender that has none.
const NoRing = -1

// The table holds 32-bit entries, two in a word: the ring plus 1.

// RingOf returns the ring that the AMT Address Table gives a sender, or NoRing.
func (b *Box) RingOf(rank int) int {
	if rank < 0 || rank >= b.Ranks {
		return NoRing
	}
	v := b.load(b.table + rank/2*8)
	r := int(uint32(v>>(rank%2*32))) - 1
	if r >= b.Rings {
		return NoRing
	}
	return r
}

// SetRing gives a sender a ring, or NoRing. A message on its way goes to the one or
// the other, whole. Only the owner calls it, one goroutine at a time.
func (b *Box) SetRing(rank, ring int) {
	old := b.RingOf(rank)
	if old == ring {
		return
	}
	if ring != NoRing { // before: who sees the entry must see that the ring is shared
		b.store(b.ring(ring)+atShare, b.load(b.ring(ring)+atShare)+1)
	}
	at, shift := b.table+rank/2*8, rank%2*32
	v := b.load(at) &^ (0xffffffff << shift)
	b.store(at, v|uint64(uint32(ring+1))<<shift)
	if old != NoRing {
		b.store(b.ring(old)+atShare, b.load(b.ring(old)+atShare)-1)
	}
}

// Shared returns how many senders the table gives a ring.
func (b *Box) Shared(ring int) int { return int(b.load(b.ring(ring) + atShare)) }

// closed marks the Tail of a ring that takes nothing: it is being moved, or has no
// memory.
const closed = 1 << 63

// Where returns where a ring lies in the room, and its size.
func (b *Box) Where(ring int) (base, size int) {
	return int(b.load(b.ring(ring) + atBase)), int(b.load(b.ring(ring) + atSize))
}

// Shut makes a ring take nothing more.
func (b *Box) Shut(ring int) {
	at := b.ring(ring) + atTail
	for {
		t := b.load(at)
		if t&closed != 0 || b.swap(at, t, t|closed) {
			return
		}
	}
}

// Unshut opens a ring that was shut, as it was.
func (b *Box) Unshut(ring int) {
	at := b.ring(ring) + atTail
	b.store(at, b.load(at)&^closed)
}

// Drained reports whether everything in a ring that is shut has been released.
func (b *Box) Drained(ring int) bool {
	return b.load(b.ring(ring)+atTail)&^closed == b.load(b.ring(ring)+atHead)
}

// Place gives a ring that is shut and drained its place in the room, and opens it
// if it has a size. Both are multiples of Grain.
func (b *Box) Place(ring, base, size int) {
	at := b.ring(ring)
	t := b.load(at+atTail)&^closed + Grain // so that no sender takes it for the old one
	b.store(at+atTail, t|closed)
	b.store(at+atHead, t)
	b.store(at+atBase, uint64(base))
	b.store(at+atSize, uint64(size))
	if size > 0 {
		b.store(at+atTail, t)
	}
}

// Waits says whether the owner sleeps, and senders must knock.
func (b *Box) Waits(v bool) {
	var w uint64
	if v {
		w = 1
	}
	if b.load(offWaits) != w {
		b.store(offWaits, w)
	}
}

// Knock reports whether the owner must be told that something has arrived. It says
// so once.
func (b *Box) Knock() bool {
	return mem.Load64(b.mem, offWaits) != 0 && b.swap(offWaits, 1, 0)
}

// Want says whether senders wait for room.
func (b *Box) Want(v bool) {
	var w uint64
	if v {
		w = 1
	}
	b.store(offWants, w)
}

// Wanted reports what Want said last: whoever gives room back tells the engine.
func (b *Box) Wanted() bool { return b.load(offWants) != 0 }

// Ready reports whether a record waits for the owner.
func (b *Box) Ready() bool { return b.published(uint32(b.load(offHead))) }

// Reserved returns what is reserved: promises, and bytes by ring, of which nobody
// has been told. Nothing is when all is quiet and everything has been released.
func (b *Box) Reserved() (promises int, bytes []int) {
	w := b.load(offClaim)
	promises = int(uint32(w) - uint32(w>>32))
	for i := range b.Rings {
		at := b.ring(i)
		bytes = append(bytes, int(b.load(at+atTail)&^closed-b.load(at+atHead)))
	}
	return promises, bytes
}
