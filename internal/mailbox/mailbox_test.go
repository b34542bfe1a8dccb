package mailbox

import (
	"bytes"
	"testing"

	"weft/internal/mem"
)

func TestGeometry(t *testing.T) {
	good := Geometry{Ranks: 2, Lines: 2, Rings: 1, Slots: 4, Room: 128}
	memory := mem.Aligned(good.Size())
	if _, err := At(memory); err == nil {
		t.Error("zeroed memory is taken for a mailbox")
	}
	if _, err := New(memory, good); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]Geometry{
		"no ranks": {0, 2, 1, 4, 128}, "no lines": {2, 0, 1, 4, 128}, "no rings": {2, 2, 0, 4, 128},
		"one slot":    {2, 2, 1, 1, 128},
		"three slots": {2, 2, 1, 3, 128}, "a piece of a grain": {2, 2, 1, 4, 100}, "negative": {2, 2, 1, 4, -64},
		"too many rings": {2, 2, MaxRings + 1, 4, 128}, "too many slots": {2, 2, 1, 2 * MaxSlots, 128},
		"too large for it": {2, 2, 1, 4, 192},
	} {
		if _, err := New(memory, g); err == nil {
			t.Errorf("%s: %+v was made", name, g)
		}
	}
	b, err := At(memory)
	if err != nil || b.Geometry != good {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := At(memory[:len(memory)-64]); err == nil {
		t.Error("a mailbox is found in less memory than it has")
	}
}

func TestRefused(t *testing.T) {
	b, r := newBox(t, 8, []int{256, 128, 0}, 0, 0, 1, NoRing, 2)
	for _, c := range []struct {
		rank, entry, total int
		mode               Mode
		want               Outcome
	}{
		{0, NoRing, 257, Auto, TooLong},
		{0, NoRing, 256, Auto, Done},
		{0, NoRing, 100, PerMessage, IsShared},
		{0, NoRing, Inline, PerMessage, Done},
		{2, NoRing, 129, Auto, TooLong},
		{2, NoRing, 128, PerMessage, Done},
		{2, 1, 128, PerMessage, IsShared},
		{2, 0, 256, Auto, Done},
		{2, 3, 8, Auto, NoEntry},
		{2, -7, 8, Auto, NoEntry},
		{3, NoRing, 0, Auto, NoEntry},
		{3, 1, 8, Auto, Done},
		{4, NoRing, 8, Auto, NoEntry},
		{4, 2, 8, Auto, NoEntry},
		{5, NoRing, 8, Auto, NoEntry},
		{-1, NoRing, 8, Auto, NoEntry},
	} {
		a := Arrival{From: c.rank, Total: c.total}
		if o := b.Owner().Begin(&a, c.entry, c.mode); o != c.want {
			t.Errorf("%+v: outcome %d", c, o)
		}
		b.Abandon(&a)
		var rec Record
		if r.Take(&rec) {
			t.Errorf("%+v: a message that was given up has arrived", c)
		}
	}
	for _, rank := range []int{3, 4} {
		push(t, join(t, b, rank), Auto, 1, 8, NoEntry)
	}
	empty(t, b, r)
}

// A ring is full when it is full, wherever its pointers are, and messages may lie
// across its end.
func TestRoom(t *testing.T) {
	for _, size := range []int{256, 192, 64 * 7} {
		for _, pos := range []uint64{0, 64, 128, 192, 64 * 1021, 1<<62 - 128} {
			b, r := newBox(t, 16, []int{size}, 0)
			b.begin(0, pos)
			s := join(t, b, 0)
			n := size/Grain - 1 // grains of a message that leaves room for one
			push(t, s, Auto, 1, n*Grain-20, Done)
			push(t, s, Auto, 2, Grain+1, Full)
			push(t, s, Auto, 3, Grain, Done)
			push(t, s, Auto, 4, Inline+1, Full)
			push(t, s, Auto, 5, Inline, Done)
			a := Arrival{From: 0, Total: Inline + 1}
			if b.HasRoom(&a, NoRing, Auto, Inline+1) {
				t.Errorf("size %d, from %d on: there is room in a full ring", size, pos)
			}
			one := take(t, r, 1, n*Grain-20)
			push(t, s, Auto, 6, Inline+1, Full) // it is on loan
			three := take(t, r, 3, Grain)
			take(t, r, 5, Inline)
			if !r.Release(one.Extent) {
				t.Errorf("size %d, from %d on: Head did not move", size, pos)
			}
			if !b.HasRoom(&a, NoRing, Auto, Inline+1) {
				t.Errorf("size %d, from %d on: there is no room in a ring of which a part was released", size, pos)
			}
			push(t, s, Auto, 7, n*Grain, Done)
			push(t, s, Auto, 8, Inline+1, Full)
			r.Release(three.Extent)
			seven := take(t, r, 7, n*Grain)
			r.Release(seven.Extent)
			push(t, s, Auto, 9, size, Done) // all of it
			nine := take(t, r, 9, size)
			r.Release(nine.Extent)
			empty(t, b, r)
		}
	}
}

// Head moves over released bytes alone, and then over all of them.
func TestReleasedInAnyOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}} {
		b, r := newBox(t, 16, []int{64 * 8}, 0)
		b.begin(0, 64*5)
		s := join(t, b, 0)
		lengths := []int{64, 65, 200, 41}
		var held []Record
		for i, n := range lengths {
			push(t, s, Auto, uint64(i), n, Done)
			held = append(held, take(t, r, uint64(i), n))
		}
		released := map[int]bool{}
		for _, i := range order {
			released[i] = true
			r.Release(held[i].Extent)
			left := 0 // behind the first that has not been released
			for k, n := range lengths {
				if left > 0 || !released[k] {
					left += int(grains(n))
				}
			}
			if _, used := b.Reserved(); used[0] != left {
				t.Errorf("%v: after the release of %d, %d bytes are in use, not %d", order, i, used[0], left)
			}
			for k := range held {
				if got := r.text(&held[k]); !released[k] && !bytes.Equal(got, letter(uint64(k), lengths[k])) {
					t.Errorf("%v: message %d was overwritten", order, k)
				}
			}
		}
		empty(t, b, r)
	}
}

// The status ring is full when it is full; a message that is given up leaves a void
// record, which is passed over and gives its room back.
func TestRecords(t *testing.T) {
	b, r := newBox(t, 4, []int{512}, 0, NoRing)
	s := join(t, b, 0)
	s.Lock()
	given := Arrival{Tag: 9, Total: 100}
	if o := s.Begin(&given, NoRing, Auto); o != Done || !given.Whole() {
		t.Fatal(o)
	}
	s.Unlock()
	for i := range uint64(3) {
		push(t, s, Auto, i, 8, Done)
	}
	push(t, s, Auto, 3, 8, Full) // the fourth record is promised
	push(t, s, Auto, 3, 100, Full)
	if promises, used := b.Reserved(); promises != 1 || used[0] != 128 {
		t.Errorf("%d promised, %d bytes", promises, used[0])
	}
	b.Abandon(&given)
	b.Abandon(&given) // once is enough
	push(t, s, Auto, 3, 8, Full)
	for i := range uint64(3) {
		take(t, r, i, 8)
		push(t, s, Auto, 10+i, 8, Done)
	}
	push(t, s, Auto, 13, 8, Full)
	take(t, r, 10, 8) // and the void one before it
	if _, used := b.Reserved(); used[0] != 0 {
		t.Errorf("a message that was given up has %d bytes", used[0])
	}
	push(t, s, Auto, 13, 41, Done)
	push(t, s, Auto, 14, 41, Done)
	take(t, r, 11, 8)
	take(t, r, 12, 8)
	r.Release(take(t, r, 13, 41).Extent)
	r.Release(take(t, r, 14, 41).Extent)
	empty(t, b, r)
}

// Tickets are numbers of 32 bits, and go round.
func TestTicketsGoRound(t *testing.T) {
	b, r := newBox(t, 4, []int{512}, 0)
	const from = 1<<32 - 40
	b.claim.Store(from<<32 | from)
	b.head.Store(from)
	r.head = from
	s := join(t, b, 0)
	s.seen = from
	for i := range uint64(100) {
		push(t, s, Auto, 3*i, 8, Done)
		push(t, s, Auto, 3*i+1, 100, Done)
		push(t, s, Auto, 3*i+2, 30, Done)
		if i > 14 && b.head.Load() > from {
			t.Fatal("they did not")
		}
		take(t, r, 3*i, 8)
		r.Release(take(t, r, 3*i+1, 100).Extent)
		take(t, r, 3*i+2, 30)
	}
	empty(t, b, r)
}

// In a shared ring there is a record for each packet, and a sender that finds it full
// in the middle can go on later.
func TestPackets(t *testing.T) {
	b, r := newBox(t, 16, []int{4 * Packet}, 0, 0)
	s := join(t, b, 1)
	data := letter(5, 3*Packet+10)
	sent, ticket, o := s.Push(NoRing, Auto, 5, data, 0)
	if sent != len(data) || ticket != 3 || o != Done {
		t.Fatal(sent, ticket, o)
	}
	if sent, _, o := s.Push(NoRing, Auto, 6, data, 0); sent != 0 || o != Full {
		t.Fatal(sent, o)
	}
	var rec Record
	for off := 0; off < len(data); {
		if !r.Take(&rec) {
			t.Fatalf("bytes %d on have not arrived", off)
		}
		n := min(len(data)-off, Packet)
		if rec.From != 1 || rec.Tag != 5 || rec.Off != off || rec.Len != n || rec.Total != len(data) ||
			rec.Last != (off+n == len(data)) || !rec.Packets {
			t.Errorf("%+v", rec)
		}
		if !bytes.Equal(r.text(&rec), data[off:off+n]) {
			t.Errorf("bytes %d on differ", off)
		}
		r.Release(rec.Extent)
		r.Done()
		off += n
		if off == Packet {
			if sent, _, o := s.Push(NoRing, Auto, 6, data, 0); sent != Packet || o != Full {
				t.Fatal(sent, o)
			}
		}
	}
	if !r.Take(&rec) || rec.Tag != 6 || rec.Off != 0 || rec.Last {
		t.Errorf("%+v", rec)
	}
	r.Release(rec.Extent)
	r.Done()
	empty(t, b, r)
}

// A ring that is shut takes nothing until it has a new place. A sender that has read the
// old place does not write to the new one.
func TestPlaced(t *testing.T) {
	b, r := newBox(t, 8, []int{128, 192}, 0)
	s := join(t, b, 0)
	push(t, s, Auto, 1, 100, Done)
	b.Shut(0)
	b.Shut(0)
	if drained(b, 0) {
		t.Error("a ring that holds a message is drained")
	}
	push(t, s, Auto, 2, 100, Full)
	push(t, s, Auto, 3, 40, Done) // needs no ring
	unshut(b, 0)
	b.Shut(0)
	one := take(t, r, 1, 100)
	take(t, r, 3, 40)
	if drained(b, 0) {
		t.Error("a ring with a message on loan is drained")
	}
	before := b.amt[0].tail.Load()
	r.Release(one.Extent)
	if !drained(b, 0) {
		t.Error("a ring from which all was released is not drained")
	}
	b.Shut(1)
	placed(r, 1)
	b.Place(1, 0, 0)
	for n := range 2 {
		if _, ok := s.reserve(1, n); ok {
			t.Errorf("a ring without memory takes %d bytes", n)
		}
	}
	placed(r, 0)
	b.Place(0, 128, 128)
	if tail := &b.amt[0].tail; tail.CompareAndSwap(before&^closed, 0) || tail.CompareAndSwap(before, 0) {
		t.Error("a sender that has read Tail before the move can reserve in the new place")
	}
	push(t, s, Auto, 4, 128, Done)
	r.Release(take(t, r, 4, 128).Extent)
	empty(t, b, r)
}

// An owner that sleeps is knocked for once, and the table says which rank has which ring.
func TestWords(t *testing.T) {
	b, _ := newBox(t, 4, []int{64, 64}, 0, 1, 1, NoRing)
	if b.Knock() || b.Wanted() || b.Ready() {
		t.Error("a new mailbox wants something")
	}
	b.Waits(true)
	if !b.Knock() || b.Knock() {
		t.Error("not one knock")
	}
	b.Want(true)
	if !b.Wanted() {
		t.Error("room is not wanted")
	}
	b.SetRing(1, 0)
	b.SetRing(3, 0)
	b.SetRing(2, NoRing)
	for rank, want := range []int{0, 0, NoRing, 0, NoRing} {
		if got := b.RingOf(rank); got != want {
			t.Errorf("rank %d has ring %d, not %d", rank, got, want)
		}
	}
	if b.Shared(0) != 3 || b.Shared(1) != 0 {
		t.Errorf("%d and %d senders", b.Shared(0), b.Shared(1))
	}
	s := join(t, b, 2)
	var senders []int
	b.Senders(func(rank int) { senders = append(senders, rank) })
	if len(senders) != 1 || senders[0] != 2 {
		t.Errorf("senders %v", senders)
	}
	s.Leave()
	for range 4 {
		join(t, b, 1)
	}
	if _, ok := b.Join(1, 1); ok {
		t.Error("more senders than lines")
	}
}

// What a goroutine has written of a message in packets, others of its process do not come
// between, whether the rest is written or leaves by another way; nor do they overtake it.
func TestHalfAMessageKeepsOthersOut(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		b, r := newBox(t, 16, []int{2 * Packet}, 0, 0)
		s := join(t, b, 0)
		long := letter(1, 2*Packet)
		if _, _, o := s.Push(NoRing, PerPacket, 1, long[:Packet], 0); o != Done {
			t.Fatal(o)
		}
		sent, _, o := s.Push(NoRing, PerPacket, 2, long, 0)
		if sent != Packet || o != Full {
			t.Fatalf("%d bytes of a message for half of which there is room: %v", sent, o)
		}
		var rec Record
		r.Take(&rec)
		r.Done()
		r.Release(rec.Extent)
		other := make([]byte, 10)
		if _, _, o := s.Push(NoRing, Auto, 3, other, 0); o != Full || s.HasRoom(NoRing, Auto, other, 0) || s.Depart(0) {
			t.Errorf("another message comes between: %v", o)
		}
		if !leaves {
			if sent, _, o = s.Push(NoRing, PerPacket, 2, long, sent); sent != 2*Packet || o != Done {
				t.Fatalf("the rest: %d, %v", sent, o)
			}
		} else {
			if !s.Depart(sent) || !s.Depart(0) {
				t.Error("the rest cannot leave")
			}
			for range 2 {
				if _, _, o := s.Push(NoRing, Auto, 3, other, 0); o != Full {
					t.Errorf("another message overtakes it: %v", o)
				}
				s.Arrived(1)
			}
		}
		if _, _, o := s.Push(NoRing, Auto, 3, other, 0); o != Done {
			t.Errorf("another message afterwards: %v", o)
		}
	}
}
