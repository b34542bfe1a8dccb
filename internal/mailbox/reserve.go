package mailbox

import "weft/internal/mem"

// The claim word holds two counts of 32 bits: in the upper half the tickets that
// have been taken, each for the record of that number, in the lower half the
// tickets that are promised. A sender that has a promise will take a ticket, and the
// slot of that ticket is free.
const lower = 1<<32 - 1

// promise reserves a record, and reports whether there was room.
func (b *Box) promise(seen *uint32) bool {
	for {
		w := b.claim.Load()
		if !b.slotFree(uint32(w), seen) {
			return false
		}
		if b.claim.CompareAndSwap(w, w&^lower|(w+1)&lower) {
			return true
		}
	}
}

// forgo gives a promise back.
func (b *Box) forgo() {
	for {
		w := b.claim.Load()
		if b.claim.CompareAndSwap(w, w&^lower|(w-1)&lower) {
			return
		}
	}
}

// ticket takes the ticket of a promise.
func (b *Box) ticket() uint32 {
	for {
		w := b.claim.Load()
		if b.claim.CompareAndSwap(w, w+1<<32) {
			return uint32(w >> 32)
		}
	}
}

// ticketNow takes a ticket that has not been promised.
func (b *Box) ticketNow(seen *uint32) (ticket uint32, ok bool) {
	for {
		w := b.claim.Load()
		if !b.slotFree(uint32(w), seen) {
			return 0, false
		}
		if b.claim.CompareAndSwap(w, (w+1<<32)&^lower|(w+1)&lower) {
			return uint32(w >> 32), true
		}
	}
}

// slotFree reports whether one more record can be promised. Seen is the Head that the caller saw last: a look at Head
// itself is needed only when that leaves no room.
func (b *Box) slotFree(promised uint32, seen *uint32) bool {
	if promised-*seen < uint32(b.Slots) {
		return true
	}
	*seen = uint32(b.head.Load())
	return promised-*seen < uint32(b.Slots)
}

// RoundUp returns how many bytes of a ring n bytes take.
func RoundUp(n int) int { return int(grains(n)) }

func grains(n int) uint64 { return uint64(n+Grain-1) &^ (Grain - 1) }

// An Extent is a part of a ring.
type Extent struct {
	Ring int
	Pos  uint64 // of Tail when it was reserved
	Len  int
}

// reserve moves a ring's Tail over n bytes, and reports whether there was room. It looks at Head only when the Head
// that it saw last leaves no room, because each look takes the cache line from the reader.
func (w *Writer) reserve(ring, n int) (pos uint64, ok bool) {
	b := w.b
	e := &b.amt[ring]
	need := grains(n)
	if w.ring != ring {
		w.ring = ring
		w.head = e.head.Load()
	}
	for {
		t := e.tail.Load()
		size := e.size.Load()
		if t&closed != 0 {
			return 0, false
		}
		used := t - w.head
		if need > size || used > size-need {
			w.head = e.head.Load()
			used = t - w.head
		}
		if need > size || used > size-need {
			return 0, false
		}
		if e.tail.CompareAndSwap(t, t+need) {
			return t, true
		}
	}
}

// free reports whether there is a record now, and room for n bytes in a ring unless the message fits into the record.
func (b *Box) free(ring, n int, inline bool) bool {
	seen := uint32(b.head.Load())
	if !b.slotFree(uint32(b.claim.Load()), &seen) {
		return false
	}
	if inline {
		return true
	}
	e := &b.amt[ring]
	t := e.tail.Load()
	h := e.head.Load()
	size := e.size.Load()
	return t&closed == 0 && grains(n) <= size && t-h <= size-grains(n)
}

// within returns pos modulo size. Size is mostly a power of two, and a division takes long.
func within(pos, size uint64) uint64 {
	if size&(size-1) == 0 {
		return pos & (size - 1)
	}
	return pos % size
}

// parts returns the memory of n bytes that begin off bytes into an extent: two
// pieces if they lie across the end of the ring.
func (b *Box) parts(ring int, pos uint64, off, n int) (first, second []byte, ok bool) {
	base, size := b.Where(ring)
	if size <= 0 || base < 0 || base > b.Room || size > b.Room-base || off < 0 || n < 0 || off > size || n > size-off {
		return nil, nil, false
	}
	from := int(within(pos+uint64(off), uint64(size)))
	room := b.room[base:][:size:size]
	if n <= size-from {
		return room[from : from+n : from+n], nil, true
	}
	return room[from:], room[:n-(size-from)], true
}

// write copies bytes to where they belong in an extent.
func (b *Box) write(ring int, pos uint64, off int, data []byte) bool {
	first, second, ok := b.parts(ring, pos, off, len(data))
	if ok {
		mem.Copy(first, data[:len(first)])
		mem.Copy(second, data[len(first):])
	}
	return ok
}
