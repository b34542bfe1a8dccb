package mailbox

import "weft/internal/mutant"

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

// Take returns the next record, if something has arrived. Its extent stays where it
// is until Release.
func (r *Reader) Take(rec *Record) bool {
	for r.b.published(r.head) {
		good := r.b.record(r.head, rec)
		if good && !rec.InRecord {
			r.mark(rec.Extent)
		}
		r.head++
		r.b.store(offHead, uint64(r.head))
		if good {
			return true
		}
		if rec.void && rec.Ring < r.b.Rings {
			r.discard(rec)
			continue
		}
		r.Bad++
	}
	return false
}

// discard releases the extent of a void record, if it can be one.
func (r *Reader) discard(rec *Record) {
	at := r.b.slot(r.head - 1)
	rec.Pos = r.b.load(at + atPlace)
	_, size := r.b.Where(rec.Ring)
	if off := rec.Pos - r.b.load(r.b.ring(rec.Ring)+atHead); rec.Pos%Grain == 0 && rec.Len > 0 && off <= uint64(size) && grains(rec.Len) <= uint64(size)-off {
		r.mark(rec.Extent)
		r.Release(rec.Extent)
	}
}

// state returns what is known of a ring, made anew when the ring has been placed
// elsewhere.
func (r *Reader) state(ring int) *ringState {
	s := &r.rings[ring]
	_, size := r.b.Where(ring)
	if n := uint64(size) / Grain; s.grains != n || len(s.released) == 0 {
		s.grains = n
		s.released = make([]uint64, (n+63)/64)
		s.known = make([]uint64, (n+63)/64)
		s.head = r.b.load(r.b.ring(ring) + atHead)
	}
	return s
}

// Placed forgets what is known of a ring that is placed anew.
func (r *Reader) Placed(ring int) { r.rings[ring] = ringState{} }

// set sets the bits of an extent.
func (s *ringState) set(bits []uint64, e Extent) {
	for i := uint64(0); i < min(grains(e.Len)/Grain, s.grains); i++ {
		g := (e.Pos/Grain + i) % s.grains
		bits[g/64] |= 1 << (g % 64)
	}
}

func (r *Reader) mark(e Extent) {
	s := r.state(e.Ring)
	s.set(s.known, e)
}

// Bytes returns the bytes of a record: where they lie, in two pieces if they lie
// across the end of the ring.
func (r *Reader) Bytes(rec *Record) (first, second []byte) {
	if rec.InRecord {
		return rec.Data[:rec.Len], nil
	}
	first, second, _ = r.b.parts(rec.Ring, rec.Pos, 0, rec.Len)
	return first, second
}

// Release gives room back, in any order: Head moves over what has been released
// without a gap. It reports whether it moved.
func (r *Reader) Release(e Extent) (moved bool) {
	s := r.state(e.Ring)
	s.set(s.released, e)
	from := s.head
	if mutant.On(mutant.HeadOver) {
		s.head = max(s.head, e.Pos+grains(e.Len))
	}
	for s.head-from < s.grains*Grain {
		g := s.head / Grain % s.grains
		word, bit := &s.released[g/64], uint64(1)<<(g%64)
		if *word&bit == 0 {
			break
		}
		*word &^= bit
		s.known[g/64] &^= bit
		s.head += Grain
	}
	if s.head == from {
		return false
	}
	r.b.store(r.b.ring(e.Ring)+atHead, s.head)
	return true
}
