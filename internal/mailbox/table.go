package mailbox

import "sync/atomic"

// NoRing is the ring of a sender that has none.
const NoRing = -1

// The table holds the ring plus 1, in 32 bits.

// RingOf returns the ring that the AMT Address Table gives a sender, or NoRing.
func (b *Box) RingOf(rank int) int {
	if rank < 0 || rank >= b.Ranks {
		return NoRing
	}
	r := int(uint32(b.table[rank/2].Load()>>(rank%2*32))) - 1
	if r >= b.Rings {
		return NoRing
	}
	return r
}

// ringOf returns the ring that a sender names, or else that of the table; ok is false if
// there is none.
func (b *Box) ringOf(rank, entry int) (ring int, ok bool) {
	ring = entry
	if ring == NoRing {
		ring = b.RingOf(rank)
	}
	return ring, ring >= 0 && ring < b.Rings
}

// SetRing gives a sender a ring, or NoRing. A message on its way goes to the one or
// the other, whole. Only the owner calls it, one goroutine at a time.
func (b *Box) SetRing(rank, ring int) {
	old := b.RingOf(rank)
	if old == ring {
		return
	}
	if ring != NoRing { // before: a sender that sees the entry must see that the ring is shared
		b.amt[ring].share.Add(1)
	}
	word := &b.table[rank/2]
	shift := rank % 2 * 32
	word.Store(word.Load()&^(0xffffffff<<shift) | uint64(uint32(ring+1))<<shift)
	if old != NoRing {
		b.amt[old].share.Add(^uint64(0))
	}
}

// Shared returns how many senders the table gives a ring.
func (b *Box) Shared(ring int) int { return int(b.amt[ring].share.Load()) }

// closed marks the Tail of a ring that takes nothing: it is being moved, or has no
// memory.
const closed = 1 << 63

// Where returns where a ring lies in the room, and its size: 0 if it has none, or one
// that cannot be.
func (b *Box) Where(ring int) (base, size int) {
	e := &b.amt[ring]
	n := e.size.Load()
	if n > uint64(b.Room) || n%Grain != 0 {
		n = 0
	}
	return int(e.base.Load()), int(n)
}

// Shut makes a ring take nothing more.
func (b *Box) Shut(ring int) {
	tail := &b.amt[ring].tail
	for {
		t := tail.Load()
		if t&closed != 0 || tail.CompareAndSwap(t, t|closed) {
			return
		}
	}
}

// Place gives a ring that is shut and empty its place in the room, and opens it
// if it has a size. Both are multiples of Grain.
func (b *Box) Place(ring, base, size int) {
	e := &b.amt[ring]
	t := e.tail.Load()&^closed + Grain // so that no sender takes it for the old one
	if n := uint64(size); n > 0 {
		t = (t + n - 1) / n * n // the first message begins where the ring does
	}
	e.tail.Store(t | closed)
	e.head.Store(t)
	e.base.Store(uint64(base))
	e.size.Store(uint64(size))
	if size > 0 {
		e.tail.Store(t)
	}
}

// Waits says whether the owner sleeps, and senders must knock.
func (b *Box) Waits(v bool) { set(&b.waits, v) }

// set sets a flag, if it is not as it should be: to write takes its line from others.
func set(word *atomic.Uint64, v bool) {
	var w uint64
	if v {
		w = 1
	}
	if word.Load() != w {
		word.Store(w)
	}
}

// Knock reports whether the owner must be told that something has arrived. It says
// so once.
func (b *Box) Knock() bool {
	return b.waits.Load() != 0 && b.waits.CompareAndSwap(1, 0)
}

// Want says whether senders wait for room.
func (b *Box) Want(v bool) {
	var w uint64
	if v {
		w = 1
	}
	b.wants.Store(w)
}

// Wanted reports what Want said last: then the engine is to be told when room is given back.
func (b *Box) Wanted() bool { return b.wants.Load() != 0 }

// Ready reports whether a record waits for the owner.
func (b *Box) Ready() bool { return b.published(uint32(b.head.Load())) }

// Reserved returns what is reserved and has no record yet: promised records, and bytes by
// ring. Nothing is reserved when no message is under way and all have been released.
func (b *Box) Reserved() (promises int, bytes []int) {
	w := b.claim.Load()
	promises = int(uint32(w) - uint32(w>>32))
	for i := range b.amt {
		bytes = append(bytes, int(b.amt[i].tail.Load()&^closed-b.amt[i].head.Load()))
	}
	return promises, bytes
}
