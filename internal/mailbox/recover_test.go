package mailbox

import (
	"bytes"
	"fmt"
	"testing"

	"weft/internal/mem"
)

// A victim is a sender that writes messages one instruction that others can see after
// the other, and so can be killed before any.
type victim struct {
	s    *Writer
	n    int
	tag  uint64
	pos  uint64
	t    uint32
	done bool // its record can be seen
}

const victims = 2

// steps are a message of a ring, and inline those of one in its record.
func (v *victim) steps(t *testing.T) []func() {
	b := v.s.b
	seen := uint32(b.head.Load())
	return []func(){
		v.s.Lock,
		func() {
			if !b.promise(&seen) {
				t.Fatal("no record")
			}
		},
		func() {
			var ok bool
			if v.pos, ok = v.s.reserve(0, v.n); !ok {
				t.Fatal("no room")
			}
		},
		func() { b.write(0, v.pos, 0, letter(v.tag, v.n)[:v.n/2]) },
		func() { b.write(0, v.pos, v.n/2, letter(v.tag, v.n)[v.n/2:]) },
		func() { v.t = b.ticket() },
		func() {
			r := Record{From: v.s.rank, Tag: v.tag, Extent: Extent{0, v.pos, v.n}, Total: v.n, Last: true}
			b.publish(v.t, &r, 0, nil)
			v.done = true
		},
		v.s.Unlock,
	}
}

func (v *victim) inline(t *testing.T) []func() {
	b := v.s.b
	seen := uint32(b.head.Load())
	return []func(){
		v.s.Lock,
		func() {
			var ok bool
			if v.t, ok = b.ticketNow(&seen); !ok {
				t.Fatal("no record")
			}
		},
		func() {
			r := Record{From: v.s.rank, Tag: v.tag, Extent: Extent{Len: 8}, Last: true}
			b.publish(v.t, &r, flagInline, letter(v.tag, 8))
			v.done = true
		},
		v.s.Unlock,
	}
}

// Two senders die wherever they may, in the middle of messages of others: what they
// had reserved comes back, and nothing else does; what they had completed arrives.
func TestRecoverAtEveryStep(t *testing.T) {
	for _, inline := range []bool{false, true} {
		for _, n := range [victims]int{64, 300} {
			for first := range 9 {
				for second := range 9 {
					t.Run(fmt.Sprint(inline, n, first, second),
						func(t *testing.T) { dieAt(t, inline, n, [victims]int{first, second}) })
				}
			}
		}
	}
}

func dieAt(t *testing.T, inline bool, n int, until [victims]int) {
	const size = 2048
	b, r := newBox(t, 16, []int{size}, 0, 0, 0)
	b.begin(0, 3*64)
	alive := join(t, b, 0)
	var want []uint64
	tell := func(tag uint64) {
		if sent, _, o := alive.Push(NoRing, Auto, tag, letter(tag, 100), 0); sent != 100 || o != Done {
			t.Fatal(sent, o)
		}
		want = append(want, tag)
	}
	tell(1)
	tell(2)
	tell(3)
	var held, rec Record
	r.Take(&rec)
	r.Done()
	r.Take(&held)
	r.Done()
	r.Release(held.Extent) // out of order: Head cannot move over it yet
	held = rec
	want = want[2:]

	// The owner's engine writes, too.
	b.SetRing(2, NoRing)
	engine := Arrival{From: 2, Tag: 50, Total: 200}
	owner := b.Owner()
	if o := owner.Begin(&engine, 0, PerPacket); o != Done || owner.hold(0, 200, &engine.pos) != Done {
		t.Fatal("no room for the engine")
	}
	engine.open = true

	var dead [victims]*victim
	var steps [victims][]func()
	for i := range dead {
		dead[i] = &victim{s: join(t, b, 1+i), n: [victims]int{n, 364 - n}[i], tag: uint64(10 + i)}
		if inline && i == 1 {
			steps[i] = dead[i].inline(t)
		} else {
			steps[i] = dead[i].steps(t)
		}
		until[i] = min(until[i], len(steps[i]))
	}
	for k := range 9 {
		for i, v := range dead {
			if k < until[i] {
				was := v.done
				steps[i][k]()
				if v.done && !was {
					want = append(want, v.tag)
				}
			}
		}
		if k == 3 {
			// Nobody has read what comes behind a record that is not there yet.
			tell(4)
		}
	}

	// While one lives, nobody can tell.
	busy := until[1] > 0 && until[1] < len(steps[1])
	died := func(rank, _ int, _ bool) bool { return rank == 1 }
	if done := r.Recover(died, []*Arrival{&engine}); done == busy {
		t.Fatalf("recovered: %v, with a living sender busy: %v", done, busy)
	}
	if !r.Recover(func(rank, _ int, _ bool) bool { return rank > 0 }, []*Arrival{&engine}) {
		t.Fatal("not recovered")
	}
	b.Senders(func(rank int) {
		if rank != 0 {
			t.Errorf("rank %d has still a line", rank)
		}
	})
	if o := owner.Add(&engine, letter(50, 200)); o != Done {
		t.Fatal(o)
	}
	want = append(want, 50)
	tell(5)
	order := map[uint64]bool{}
	for _, tag := range want {
		order[tag] = true
	}
	loans := []Record{held}
	for r.Take(&rec) {
		if !order[rec.Tag] {
			t.Errorf("message %d has arrived, which nobody has completed, or twice", rec.Tag)
		}
		delete(order, rec.Tag)
		if got := r.text(&rec); !bytes.Equal(got, letter(rec.Tag, rec.Total)) {
			t.Errorf("message %d: %x", rec.Tag, got)
		}
		r.Done()
		if !rec.InRecord {
			loans = append(loans, rec)
		}
	}
	for tag := range order {
		t.Errorf("message %d has not arrived", tag)
	}
	if got := r.text(&held); !bytes.Equal(got, letter(1, 100)) {
		t.Errorf("a message on loan was overwritten: %x", got)
	}
	for _, rec := range loans {
		r.Release(rec.Extent)
	}
	empty(t, b, r)
	push(t, alive, PerPacket, 6, size, Done) // all of it can be used
	for i := range uint64(15) {
		push(t, alive, Auto, 7+i, 8, Done)
	}
}

// A sender that is only away, and may write yet, is waited for.
func TestRecoverWaits(t *testing.T) {
	b, r := newBox(t, 8, []int{512}, 0, 0)
	s := join(t, b, 0)
	other := join(t, b, 1)
	s.Lock()
	gone := func(rank, _ int, busy bool) bool { return rank == 0 && !busy }
	if r.Recover(gone, nil) {
		t.Error("recovered from a sender that may be writing")
	}
	a := Arrival{Tag: 1, Total: 100}
	if o := s.Begin(&a, NoRing, PerPacket); o != Done {
		t.Fatal(o)
	}
	if o := s.Add(&a, letter(1, 100)); o != Done {
		t.Fatal(o)
	}
	s.Unlock()
	if !r.Recover(gone, nil) {
		t.Error("not recovered from a sender that is not writing")
	}
	push(t, other, Auto, 2, 100, Done)
	var rec Record
	for want := uint64(1); want <= 2; want++ {
		if !r.Take(&rec) || rec.Tag != want || !bytes.Equal(r.text(&rec), letter(want, 100)) {
			t.Errorf("%+v, not message %d", rec, want)
		}
		r.Done()
		r.Release(rec.Extent)
	}
	empty(t, b, r)
}

// What had been released behind what a dead sender had reserved is not released again.
func TestRecoverMovesOverReleased(t *testing.T) {
	g := Geometry{Ranks: 2, Lines: 3, Rings: 1, Slots: 16, Room: 1024}
	b, err := New(mem.Aligned(g.Size()), g)
	if err != nil {
		t.Fatal(err)
	}
	b.Shut(0)
	b.Place(0, 0, 1024)
	b.SetRing(0, 0)
	b.SetRing(1, 0)
	r := NewReader(b)
	victim, _ := b.Join(0, 1)
	other, _ := b.Join(1, 1)
	victim.Lock()
	if _, ok := victim.reserve(0, 64); !ok {
		t.Fatal("no room")
	}
	for range 3 {
		if _, _, o := other.Push(NoRing, Auto, 0, make([]byte, 100), 0); o != Done {
			t.Fatal(o)
		}
		var rec Record
		if !r.Take(&rec) {
			t.Fatal("nothing has come")
		}
		r.Done()
		r.Release(rec.Extent)
	}
	if !r.Recover(func(rank, _ int, _ bool) bool { return rank == 0 }, nil) {
		t.Fatal("not recovered")
	}
	if _, bytes := b.Reserved(); bytes[0] != 0 {
		t.Errorf("%d bytes are reserved", bytes[0])
	}
	for _, w := range r.rings[0].released {
		if w != 0 {
			t.Errorf("what nobody has reserved counts as released: %b", w)
		}
	}
}
