package mailbox

import (
	"math/bits"

	"weft/internal/mem"
)

// A Reader takes what has arrived, in order. One goroutine at a time uses it.
type Reader struct {
	b     *Box
	head  uint32 // of the status ring
	rings []ringState
	Bad   uint64 // records that could not be true
}

// A ringState is what the reader knows of a ring: its Head, and a bit for each grain
// that has been released. The ring has no more than len(released) grains.
type ringState struct {
	head     uint64
	grains   uint64
	released []uint64
	known    []uint64 // a record for it has been read
}

// NewReader returns the reader of a mailbox that was just made.
func NewReader(b *Box) *Reader { return &Reader{b: b, rings: make([]ringState, b.Rings)} }

// Ready reports whether something has arrived.
func (r *Reader) Ready() bool { return r.b.published(r.head) }

// Take looks at the next record, if something has arrived. Done must follow before the
// next one. Its extent stays where it is until Release.
func (r *Reader) Take(rec *Record) bool {
	for i := range r.b.slots { // a sender that writes void records without end does not keep the owner here
		if !r.b.published(r.head) {
			if i > 0 {
				r.Settle()
			}
			return false
		}
		good := r.b.record(r.head, rec)
		if good && !rec.InRecord {
			r.mark(rec.Extent)
		}
		switch {
		case !good:
			r.Bad++
		case !rec.void:
			return true
		case !rec.InRecord:
			r.Release(rec.Extent)
		}
		r.Done()
	}
	return false
}

// Done frees the record that Take has shown.
//
// A sender that waits for a record may miss that, until the owner has passed a memory fence
// and looked at Wanted again; Settle does that.
func (r *Reader) Done() {
	r.head++
	mem.Publish(&r.b.head, uint64(r.head))
}

// Settle makes sure that other processes see what Done has freed.
func (r *Reader) Settle() { r.b.head.Store(uint64(r.head)) }

// state returns what is known of a ring, made anew when the ring has been placed
// elsewhere.
func (r *Reader) state(ring int) *ringState {
	s := &r.rings[ring]
	_, size := r.b.Where(ring)
	if n := uint64(size) / Grain; s.grains != n {
		s.grains = n
		s.released = make([]uint64, (n+63)/64)
		s.known = make([]uint64, (n+63)/64)
		s.head = r.b.amt[ring].head.Load()
	}
	return s
}

// change sets or clears the bits of n grains from the one at pos on, a word at a time.
func (s *ringState) change(words []uint64, pos uint64, n int, on bool) {
	at := within(pos/Grain, s.grains)
	for left := min(grains(n)/Grain, s.grains); left > 0; {
		k := min(left, 64-at%64, s.grains-at)
		mask := (^uint64(0) >> (64 - k)) << (at % 64)
		if on {
			words[at/64] |= mask
		} else {
			words[at/64] &^= mask
		}
		left -= k
		if at += k; at == s.grains {
			at = 0
		}
	}
}

// run returns how many bytes from Head on have been released.
func (s *ringState) run() (n uint64) {
	at := within(s.head/Grain, s.grains)
	for n < s.grains*Grain {
		k := min(uint64(bits.TrailingZeros64(^(s.released[at/64] >> (at % 64)))), 64-at%64, s.grains-at, s.grains-n/Grain)
		n += k * Grain
		if at += k; at == s.grains {
			at = 0
		}
		if k == 0 || at%64 != 0 {
			break
		}
	}
	return n
}

func (r *Reader) mark(e Extent) {
	s := r.state(e.Ring)
	if s.grains > 0 {
		s.change(s.known, e.Pos, e.Len, true)
	}
}

// Bytes returns the bytes of a record: where they lie, in two pieces if they lie
// across the end of the ring.
func (r *Reader) Bytes(rec *Record) (first, second []byte) {
	if rec.InRecord {
		return rec.Data, nil
	}
	first, second, _ = r.b.parts(rec.Ring, rec.Pos, 0, rec.Len)
	return first, second
}

// Release gives room back, in any order: Head moves over what has been released
// without a gap. It reports whether it moved.
func (r *Reader) Release(e Extent) (moved bool) {
	s := r.state(e.Ring)
	if s.grains == 0 {
		return false
	}
	from := s.head
	s.change(s.released, e.Pos, e.Len, true)
	if n := s.run(); n > 0 {
		s.change(s.released, s.head, int(n), false)
		s.change(s.known, s.head, int(n), false)
		s.head += n
	}
	if s.head == from {
		return false
	}
	r.b.amt[e.Ring].head.Store(s.head)
	return true
}
