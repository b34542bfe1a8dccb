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

// FuzzHostile is a sender that maps a mailbox and writes what it likes, anywhere: the
// owner, and others that map it, do not panic, do not look outside, come back from
// every call, and need no more memory than the rings have.
//
// A script is a byte that says what is done, and what that needs.
func FuzzHostile(f *testing.F) {
	const (
		scribble = iota
		word
		line
		takeOne
		release
		recovers
		engine
		placed
		kinds
	)
	at := func(off int, v uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16([]byte{word}, uint16(off)), v)
	}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	g := Geometry{Ranks: 3, Lines: 2, Rings: 2, Slots: 4, Room: 1024}
	const ( // where it all lies then (PROTOCOL §10.4)
		claim = 64
		table = 320
		lines = 384
		amt   = 512
		slots = 896
	)
	after := []byte{takeOne, takeOne, release, release, recovers, engine, 100, engine, 30, takeOne, takeOne, takeOne,
		release, placed, 0, recovers}
	for _, v := range []uint64{0, 1, 63, 64, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 62, 1 << 63, 1<<63 - 64,
		1<<64 - 1} {
		for _, off := range []int{0, 8, 16, 24, 32, 40, claim, 128, 192, 256, table} {
			f.Add(join(at(off, v), after))
		}
		for _, off := range []int{0, 8, 16, 64, 128} {
			f.Add(join(at(amt+off, v), after))
			f.Add(join(after[:3], at(amt+off, v), after))
		}
		for off := 0; off < 64; off += 8 {
			f.Add(join(at(lines, 2), at(lines+8, 1), at(lines+off, v), after))
		}
		for flags := range uint64(16) {
			for _, off := range []int{8, 16, 24, 32, 40} {
				f.Add(join(at(slots+off, v), at(slots, 1|flags<<48), after))
			}
		}
	}
	f.Fuzz(func(t *testing.T, script []byte) {
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
		a := &Arrival{}
		owner := b.Owner()
		var held []Extent
		next := func(n int) []byte {
			part := make([]byte, n)
			script = script[copy(part, script):]
			return part
		}
		for calls := 0; len(script) > 0 && calls < 1000; calls++ {
			switch next(1)[0] % kinds {
			case scribble:
				at := next(4)
				copy(memory[int(binary.LittleEndian.Uint16(at))%len(memory):], next(int(at[2])%64))
			case word:
				at := int(binary.LittleEndian.Uint16(next(2))) % len(memory) &^ 7
				mem.Store64(memory, at, binary.LittleEndian.Uint64(next(8)))
			case line:
				mem.Store64(memory, lines+8*int(next(1)[0]%16), binary.LittleEndian.Uint64(next(8)))
			case takeOne:
				var rec Record
				if r.Take(&rec) {
					first, second := r.Bytes(&rec)
					if n := len(first) + len(second); n > g.Room || n != rec.Len && n != 0 {
						t.Errorf("%d bytes of %+v", n, rec)
					}
					if rec.Total > g.Room {
						t.Errorf("%+v says that the message is longer than all rings", rec)
					}
					if !rec.InRecord {
						held = append(held, rec.Extent)
					}
					r.Done()
				}
			case release:
				if len(held) > 0 {
					r.Release(held[0])
					held = held[1:]
				}
			case recovers:
				r.Recover(func(int, int, bool) bool { return true }, []*Arrival{a})
			case engine:
				n := int(next(1)[0])
				b.Abandon(a)
				*a = Arrival{From: n % 4, Total: n}
				b.HasRoom(a, NoRing, Mode(n%3), n)
				if o := owner.Begin(a, NoRing, Mode(n%3)); o == Done {
					owner.Add(a, make([]byte, n/2))
					owner.Add(a, make([]byte, n-n/2))
				}
			case placed:
				ring := int(next(1)[0]) % g.Rings
				b.Shut(ring)
				if b.Drained(ring) {
					r.Placed(ring)
					b.Place(ring, 512*ring, 512)
				}
				b.Unshut(ring)
			}
			for i := range r.rings {
				if s := &r.rings[i]; len(s.released)+len(s.known) > 2*(g.Room/Grain+63)/64 {
					t.Fatalf("%d words for a ring", len(s.released))
				}
			}
			b.Ready()
			b.Reserved()
			b.Senders(func(int) {})
			b.Knock()
			if other, err := At(memory); err == nil {
				other.RingOf(1)
				other.Owner().Begin(&Arrival{From: 1, Total: 50}, NoRing, PerPacket)
				other.Ready()
			}
		}
	})
}
