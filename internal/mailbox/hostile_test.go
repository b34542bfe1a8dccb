package mailbox

import (
	"encoding/binary"
	"testing"

	"weft/internal/mem"
)

// A record that cannot be true is not believed: one of a rank or of a ring that does not exist, one whose bytes lie
// outside its ring or its message, and one too long for the record itself. One at the very bounds is.
func TestRecordsThatCannotBe(t *testing.T) {
	const flagged = uint64(1) << 48
	good := struct{ word, from, pos, off, total uint64 }{word: 1 | 1<<32, from: 1 | 64<<32, pos: 448, off: 0, total: 64}
	for _, c := range []struct {
		name   string
		change func(word, from, pos, off, total *uint64)
		good   bool
	}{
		{"at the end of its ring", func(_, _, _, _, _ *uint64) {}, true},
		{"the last rank", func(_, from, _, _, _ *uint64) { *from = 2 | 64<<32 }, true},
		{"one rank too many", func(_, from, _, _, _ *uint64) { *from = 3 | 64<<32 }, false},
		{"one ring too many", func(word, _, _, _, _ *uint64) { *word = 1 | 2<<32 }, false},
		{"beyond the end of its ring", func(_, _, pos, _, _ *uint64) { *pos = 512 }, false},
		{"across the end of its ring", func(_, from, _, _, total *uint64) {
			*from = 1 | 65<<32
			*total = 65
		}, false},
		{"not at a grain", func(_, _, pos, _, _ *uint64) { *pos = 440 }, false},
		{"before its ring", func(_, _, pos, _, _ *uint64) { *pos = 1<<64 - 64 }, false},
		{"the second half of its message", func(_, _, _, off, total *uint64) {
			*off = 64
			*total = 128
		}, true},
		{"across the end of its message", func(_, _, _, off, total *uint64) {
			*off = 65
			*total = 128
		}, false},
		{"behind its message", func(_, _, _, off, total *uint64) {
			*off = 129
			*total = 128
		}, false},
		{"of the longest message", func(_, _, _, _, total *uint64) { *total = 1024 }, true},
		{"of a message that is too long", func(_, _, _, _, total *uint64) { *total = 1025 }, false},
		{"of no bytes", func(_, from, _, _, _ *uint64) { *from = 1 }, false},
		{"in the record", func(word, from, _, _, _ *uint64) {
			*word = 1 | 1<<32 | flagInline*flagged
			*from = 1 | Inline<<32
		}, true},
		{"too long for the record", func(word, from, _, _, _ *uint64) {
			*word = 1 | 1<<32 | flagInline*flagged
			*from = 1 | (Inline+1)<<32
		}, false},
	} {
		b, _ := newBox(t, 4, []int{512, 512}, 0, 1, 1)
		b.begin(1, 0)
		v := good
		c.change(&v.word, &v.from, &v.pos, &v.off, &v.total)
		s := b.slot(0)
		mem.Publish(&s.rest[restPos], v.pos)
		mem.Publish(&s.rest[restOff], v.off)
		mem.Publish(&s.rest[restTotal], v.total)
		mem.Publish(&s.from, v.from)
		mem.Publish(&s.word, v.word)
		var r Record
		if got := b.record(0, &r); got != c.good {
			t.Errorf("%s: %v, want %v", c.name, got, c.good)
		}
	}
}

// hostileGeometry is the shape of the mailbox that FuzzHostile writes to.
var hostileGeometry = Geometry{Ranks: 3, Lines: 2, Rings: 2, Slots: 4, Room: 1024}

// Where the parts of this mailbox lie (PROTOCOL §10.4).
const (
	claimAt = 64
	tableAt = 320
	linesAt = 384
	amtAt   = 512
	slotsAt = 896
)

// What a script does next, by its next byte.
const (
	doScribble = iota
	doWord
	doLine
	doTake
	doRelease
	doRecover
	doEngine
	doPlace
	doKinds
)

// hostileScripts adds scripts that write values at the edges of what a word can hold to every word.
func hostileScripts(f *testing.F) {
	at := func(off int, v uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16([]byte{doWord}, uint16(off)), v)
	}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	after := []byte{doTake, doTake, doRelease, doRelease, doRecover, doEngine, 100, doEngine, 30, doTake, doTake, doTake,
		doRelease, doPlace, 0, doRecover}
	for _, v := range []uint64{0, 1, 63, 64, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 62, 1 << 63, 1<<63 - 64,
		1<<64 - 1} {
		for _, off := range []int{0, 8, 16, 24, 32, 40, claimAt, 128, 192, 256, tableAt} {
			f.Add(join(at(off, v), after))
		}
		for _, off := range []int{0, 8, 16, 64, 128} {
			f.Add(join(at(amtAt+off, v), after))
			f.Add(join(after[:3], at(amtAt+off, v), after))
		}
		for off := 0; off < 64; off += 8 {
			f.Add(join(at(linesAt, 2), at(linesAt+8, 1), at(linesAt+off, v), after))
		}
		for flags := range uint64(16) {
			for _, off := range []int{8, 16, 24, 32, 40} {
				f.Add(join(at(slotsAt+off, v), at(slotsAt, 1|flags<<48), after))
			}
		}
	}
}

// FuzzHostile is a sender that maps a mailbox and writes what it likes, anywhere: the
// owner, and others that map it, do not panic, do not look outside, come back from
// every call, and need no more memory than the rings have.
//
// A script is a byte that says what is done, and what that needs.
func FuzzHostile(f *testing.F) {
	hostileScripts(f)
	f.Fuzz(func(t *testing.T, script []byte) {
		h := newHostile(t, script)
		for calls := 0; len(h.script) > 0 && calls < 1000; calls++ {
			h.step()
			h.look()
		}
	})
}

// A hostile is a mailbox in memory that a script writes to, with all that use the mailbox.
type hostile struct {
	t      *testing.T
	script []byte
	memory []byte
	b      *Box
	r      *Reader
	owner  *Writer
	a      *Arrival
	held   []Extent
}

func newHostile(t *testing.T, script []byte) *hostile {
	g := hostileGeometry
	memory := mem.Aligned(g.Size())
	b, err := New(memory, g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Rings {
		b.Shut(i)
		b.Place(i, 512*i, 512)
		b.SetRing(i, i)
	}
	r := NewReader(b)
	s, _ := b.Join(1, 1)
	s.Push(NoRing, Auto, 1, make([]byte, 100), 0)
	s.Push(NoRing, Auto, 2, make([]byte, 10), 0)
	return &hostile{t: t, script: script, memory: memory, b: b, r: r, owner: b.Owner(), a: &Arrival{}}
}

// next takes n bytes from the script.
func (h *hostile) next(n int) []byte {
	part := make([]byte, n)
	h.script = h.script[copy(part, h.script):]
	return part
}

// step does what the script says next.
func (h *hostile) step() {
	b := h.b
	switch h.next(1)[0] % doKinds {
	case doScribble:
		at := h.next(4)
		copy(h.memory[int(binary.LittleEndian.Uint16(at))%len(h.memory):], h.next(int(at[2])%64))
	case doWord:
		at := int(binary.LittleEndian.Uint16(h.next(2))) % len(h.memory) &^ 7
		mem.Store64(h.memory, at, binary.LittleEndian.Uint64(h.next(8)))
	case doLine:
		mem.Store64(h.memory, linesAt+8*int(h.next(1)[0]%16), binary.LittleEndian.Uint64(h.next(8)))
	case doTake:
		h.take()
	case doRelease:
		if len(h.held) > 0 {
			h.r.Release(h.held[0])
			h.held = h.held[1:]
		}
	case doRecover:
		h.r.Recover(func(int, int, bool) bool { return true }, []*Arrival{h.a})
	case doEngine:
		n := int(h.next(1)[0])
		b.Abandon(h.a)
		*h.a = Arrival{From: n % 4, Total: n}
		b.HasRoom(h.a, NoRing, Mode(n%3), n)
		if o := h.owner.Begin(h.a, NoRing, Mode(n%3)); o == Done {
			h.owner.Add(h.a, make([]byte, n/2))
			h.owner.Add(h.a, make([]byte, n-n/2))
		}
	case doPlace:
		ring := int(h.next(1)[0]) % hostileGeometry.Rings
		b.Shut(ring)
		if drained(b, ring) {
			placed(h.r, ring)
			b.Place(ring, 512*ring, 512)
		}
		unshut(b, ring)
	}
}

// take takes a record, if there is one, and checks that it is not longer than the rings.
func (h *hostile) take() {
	var rec Record
	if !h.r.Take(&rec) {
		return
	}
	first, second := h.r.Bytes(&rec)
	if n := len(first) + len(second); n > hostileGeometry.Room || n != rec.Len && n != 0 {
		h.t.Errorf("%d bytes of %+v", n, rec)
	}
	if rec.Total > hostileGeometry.Room {
		h.t.Errorf("%+v says that the message is longer than all rings", rec)
	}
	if !rec.InRecord {
		h.held = append(h.held, rec.Extent)
	}
	h.r.Done()
}

// look checks how much memory the reader needs, and makes the calls of all that map the mailbox.
func (h *hostile) look() {
	for i := range h.r.rings {
		if s := &h.r.rings[i]; len(s.released)+len(s.known) > 2*(hostileGeometry.Room/Grain+63)/64 {
			h.t.Fatalf("%d words for a ring", len(s.released))
		}
	}
	h.b.Ready()
	h.b.Reserved()
	h.b.Senders(func(int) {})
	h.b.Knock()
	if other, err := At(h.memory); err == nil {
		other.RingOf(1)
		other.Owner().Begin(&Arrival{From: 1, Total: 50}, NoRing, PerPacket)
		other.Ready()
	}
}
