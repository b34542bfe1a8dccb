package mailbox

import (
	"bytes"
	"testing"

	"weft/internal/mem"
)

// newBox makes a mailbox for ranks 0, 1, … whose rings are those that the table
// names, one behind the other.
func newBox(t testing.TB, slots int, sizes []int, table ...int) (*Box, *Reader) {
	t.Helper()
	g := Geometry{Ranks: len(table), Lines: len(table), Rings: len(sizes), Slots: slots}
	for _, size := range sizes {
		g.Room += size
	}
	b, err := New(mem.Aligned(g.Size()), g)
	if err != nil {
		t.Fatal(err)
	}
	base := 0
	for i, size := range sizes {
		b.Shut(i)
		b.Place(i, base, size)
		base += size
	}
	for rank, ring := range table {
		b.SetRing(rank, ring)
	}
	return b, NewReader(b)
}

// begin moves a ring to where its Tail and Head are, and its room is empty.
func (b *Box) begin(ring int, pos uint64) {
	b.amt[ring].tail.Store(pos)
	b.amt[ring].head.Store(pos)
}

func join(t testing.TB, b *Box, rank int) *Writer {
	t.Helper()
	s, ok := b.Join(rank, 1)
	if !ok {
		t.Fatalf("no line for rank %d", rank)
	}
	return s
}

// letter is what a message of a tag says.
func letter(tag uint64, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte((tag*31 + uint64(i)) * 0x9e3779b97f4a7c15 >> 56)
	}
	return data
}

// text returns the bytes of a record, joined.
func (r *Reader) text(rec *Record) []byte {
	first, second := r.Bytes(rec)
	return append(bytes.Clone(first), second...)
}

// push wants an outcome of a message.
func push(t testing.TB, s *Writer, mode Mode, tag uint64, n int, want Outcome) {
	t.Helper()
	if _, _, o := s.Push(NoRing, mode, tag, letter(tag, n), 0); o != want {
		t.Fatalf("message %d of %d bytes: outcome %d, not %d", tag, n, o, want)
	}
}

// take wants the next record to be all of a message.
func take(t testing.TB, r *Reader, tag uint64, n int) Record {
	t.Helper()
	var rec Record
	if !r.Take(&rec) {
		t.Fatalf("message %d has not arrived", tag)
	}
	if rec.Tag != tag || rec.Len != n || rec.Off != 0 || rec.Total != n || !rec.Last || rec.InRecord != (n <= Inline) {
		t.Fatalf("%+v, not message %d of %d bytes", rec, tag, n)
	}
	if got := r.text(&rec); !bytes.Equal(got, letter(tag, n)) {
		t.Fatalf("message %d: %x", tag, got)
	}
	r.Done()
	return rec
}

// empty wants nothing to have arrived and nothing to be reserved.
func empty(t testing.TB, b *Box, r *Reader) {
	t.Helper()
	var rec Record
	if r.Take(&rec) {
		t.Errorf("%+v has arrived", rec)
	}
	promises, used := b.Reserved()
	for ring, n := range used {
		if n != 0 {
			t.Errorf("%d bytes of ring %d are reserved", n, ring)
		}
	}
	if promises != 0 {
		t.Errorf("%d records are promised", promises)
	}
	if r.Bad != 0 {
		t.Errorf("%d bad records", r.Bad)
	}
}

// unshut opens a ring that was shut, as it was.
func unshut(b *Box, ring int) {
	tail := &b.amt[ring].tail
	tail.Store(tail.Load() &^ closed)
}

// drained reports whether everything in a ring that is shut has been released.
func drained(b *Box, ring int) bool {
	return b.amt[ring].tail.Load()&^closed == b.amt[ring].head.Load()
}

// placed forgets what a reader knows of a ring that is placed anew.
func placed(r *Reader, ring int) { r.rings[ring] = ringState{} }
