package ring

import (
	"bytes"
	"testing"
)

// packet returns n bytes that tell which packet they are.
func packet(i, n int) []byte { return bytes.Repeat([]byte{byte(i + 1)}, n) }

// take receives a packet and checks it.
func take(t *testing.T, c *Consumer, i, n int) {
	t.Helper()
	pkt, ok := c.Peek(0)
	if !ok || !bytes.Equal(pkt, packet(i, n)) {
		t.Fatalf("packet %d: ok %v, %d bytes, want %d", i, ok, len(pkt), n)
	}
	c.Take(1, n)
	c.Publish()
}

// The data of a pair holds what fits to the last byte, and not one packet more. What has been taken makes room for
// just as much, and what waits stays as it was written.
func TestPairDataIsFilledExactly(t *testing.T) {
	for _, size := range []int{8 << 10, MaxPacket, 57, 64, 65, 4 << 10} {
		m := area(PairBytes)
		p := NewProducer(m)
		c := NewConsumer(m)
		room := (size + line - 1) / line * line
		fit := min(pairData/room, pairCells)
		first := 0
		next := 0
		for ; p.Push(packet(next, size)[:8], packet(next, size)[8:]); next++ {
		}
		if next != fit {
			t.Fatalf("%d packets of %d bytes fit, want %d", next, size, fit)
		}
		if next < pairCells {
			if !p.Push([]byte{99}, nil) {
				t.Fatalf("size %d: a packet that lies in its cell needs no data, and was refused", size)
			}
			next++
		}
		for range 3 * fit {
			inline := first%(fit+1) == fit && fit < pairCells
			if first == fit && inline {
				if pkt, ok := c.Peek(0); !ok || len(pkt) != 1 || pkt[0] != 99 {
					t.Fatalf("the short packet: %v %v", pkt, ok)
				}
				c.Take(1, 1)
				c.Publish()
				first++
				continue
			}
			take(t, c, first, size)
			first++
			for p.Push(packet(next, size), nil) {
				next++
			}
			if waiting := next - first; waiting < fit-1 || waiting > fit+1 {
				t.Fatalf("size %d: %d packets wait, where %d fit", size, waiting, fit)
			}
		}
	}
}

// A packet that would go over the end of the data lies at its beginning, as soon as that is free; what is left over
// at the end counts as used until then.
func TestPairSkipsTheEnd(t *testing.T) {
	m := area(PairBytes)
	p := NewProducer(m)
	c := NewConsumer(m)
	n := 0
	for ; p.Push(packet(n, MaxPacket), nil); n++ {
	}
	if n != pairData/MaxPacket {
		t.Fatalf("%d packets fit, want %d", n, pairData/MaxPacket)
	}
	take(t, c, 0, MaxPacket)
	if !p.Push(packet(n, MaxPacket), nil) {
		t.Fatal("no room at the beginning, which is free")
	}
	if p.Push([]byte{1}, packet(n, MaxPacket)[:100]) {
		t.Fatal("wrote over a packet that waits")
	}
	for i := 1; i <= n; i++ {
		take(t, c, i, MaxPacket)
	}
	if !p.Drained() || !p.Push(packet(0, MaxPacket), nil) {
		t.Fatal("no room in an empty ring")
	}
	take(t, c, 0, MaxPacket)
}

// The longest packet may lie at the very end of the data; what reaches beyond, or is longer, is returned empty.
func TestPairRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		at, size uint32
		whole    bool
	}{
		{0, MaxPacket, true},
		{pairData - MaxPacket, MaxPacket, true},
		{pairData - MaxPacket + 1, MaxPacket, false},
		{0, MaxPacket + 1, false},
		{pairData - 57, 57, true},
		{pairData - 56, 57, false},
		{pairData, 57, false},
		{pairData + 1, 57, false},
		{^uint32(0), 57, false},
	} {
		m := area(PairBytes)
		cell := &pairAt(m).cells[0]
		cell.stamp = 1
		cell.size = c.size
		cell.data[0] = byte(c.at)
		cell.data[1] = byte(c.at >> 8)
		cell.data[2] = byte(c.at >> 16)
		cell.data[3] = byte(c.at >> 24)
		want := 0
		if c.whole {
			want = int(c.size)
		}
		if pkt, ok := NewConsumer(m).Peek(0); !ok || len(pkt) != want {
			t.Errorf("%d bytes at %d: %d bytes, %v, want %d", c.size, c.at, len(pkt), ok, want)
		}
	}
}

// A consumer that tells nonsense about how far it is gets no more into its ring, and does the producer no harm.
func TestPairIgnoresNonsenseOfTheConsumer(t *testing.T) {
	m := area(PairBytes)
	p := NewProducer(m)
	for i := 0; p.Push(packet(i, 8), nil); i++ {
	}
	for _, head := range []uint64{pairCells + 1, pairCells + 100, 1 << 40, ^uint64(0)} {
		pairAt(m).head.Store(head)
		if p.Push([]byte{1}, nil) {
			t.Errorf("a consumer that has taken %d of %d packets made room", head, pairCells)
		}
	}
	pairAt(m).head.Store(pairCells)
	if !p.Push([]byte{1}, nil) {
		t.Error("no room when all have been taken")
	}
}

// The consumer tells the producer after a quarter of the cells, or an eighth of the data: sooner would cost a cache
// line for each packet, later would hold the producer up.
func TestPairPublishesSomeAtATime(t *testing.T) {
	for _, size := range []int{1, 8 << 10} {
		m := area(PairBytes)
		p := NewProducer(m)
		c := NewConsumer(m)
		some := min(pairCells/4, pairData/8/size)
		for i := range some {
			if !p.Push(packet(i, size), nil) {
				t.Fatal("no room")
			}
		}
		for i := range some {
			if p.Drained() || pairAt(m).head.Load() != 0 {
				t.Fatalf("size %d: told after %d packets, want %d", size, i, some)
			}
			c.Take(1, size)
		}
		if !p.Drained() {
			t.Fatalf("size %d: not told after %d packets", size, some)
		}
	}
}

// Only what is in the ring can be seen, and all of it.
func TestPeekSeesWhatIsThere(t *testing.T) {
	m := area(PairBytes)
	n := area(InboxBytes)
	p := NewProducer(m)
	c := NewConsumer(m)
	s := NewInboxProducer(n, 0)
	r := NewInboxConsumer(n, func(int) bool { return false })
	for i := range pairCells {
		if _, ok := c.Peek(i); ok || c.Ready() && i == 0 {
			t.Fatalf("the pair shows packet %d of %d", i, i)
		}
		p.Push(packet(i, 1), nil)
		if pkt, ok := c.Peek(i); !ok || pkt[0] != byte(i+1) || !c.Ready() {
			t.Fatalf("the pair does not show packet %d", i)
		}
	}
	if _, ok := c.Peek(pairCells); ok {
		t.Fatal("the pair shows a packet twice")
	}
	for i := range inboxCells {
		if _, _, ok := r.Peek(i); ok || r.Ready() != (i > 0) || r.Idle() != (i == 0) {
			t.Fatalf("the inbox shows packet %d of %d, or is ready %v or idle %v", i, i, r.Ready(), r.Idle())
		}
		if !s.Push(packet(i, 1), nil) || s.Drained() {
			t.Fatalf("no room for packet %d, or drained", i)
		}
		if _, pkt, ok := r.Peek(i); !ok || pkt[0] != byte(i+1) {
			t.Fatalf("the inbox does not show packet %d", i)
		}
	}
	if s.Push([]byte{1}, nil) {
		t.Fatal("the inbox takes more packets than it has cells")
	}
	if _, _, ok := r.Peek(inboxCells); ok {
		t.Fatal("the inbox shows a packet twice")
	}
	r.Take(inboxCells - 1)
	if s.Drained() {
		t.Fatal("drained, and one packet waits")
	}
	r.Take(1)
	if !s.Drained() || !r.Idle() || r.Ready() {
		t.Fatal("not drained when all has been taken")
	}
}

// Packets of every length come through the inbox whole, with their sender; a length that cannot be gives an empty one.
func TestInboxLengths(t *testing.T) {
	m := area(InboxBytes)
	s := NewInboxProducer(m, 3)
	r := NewInboxConsumer(m, func(int) bool { return false })
	for _, n := range []int{0, 1, inline - 1, inline, inline + 1, MaxPacket - 1, MaxPacket} {
		for _, cut := range []int{0, n / 3, n} {
			want := packet(n+cut, n)
			if !s.Push(want[:cut], want[cut:]) {
				t.Fatal("no room")
			}
			if from, pkt, ok := r.Peek(0); from != 3 || !ok || !bytes.Equal(pkt, want) {
				t.Fatalf("%d bytes: %d bytes from %d, %v", n, len(pkt), from, ok)
			}
			r.Take(1)
		}
	}
	at := inboxAt(m).tail.Load() % inboxCells
	s.Push([]byte{1}, nil)
	inboxAt(m).cells[at].size = MaxPacket + 1
	if _, pkt, ok := r.Peek(0); !ok || len(pkt) != 0 {
		t.Fatalf("a packet that is too long has %d bytes, %v", len(pkt), ok)
	}
}

// The receiver waits for the owner of a claimed cell unless that is dead, asks about no other rank, and passes the
// cell only when the tail is beyond it.
func TestInboxAsksOnlyAboutTheOwner(t *testing.T) {
	for _, owner := range []int{0, 1, 9} {
		m := area(InboxBytes)
		var asked []int
		dead := false
		r := NewInboxConsumer(m, func(rank int) bool {
			asked = append(asked, rank)
			return dead
		})
		if r.Peek(0); len(asked) > 0 {
			t.Fatalf("asked about %v for a free cell", asked)
		}
		box := inboxAt(m)
		box.cells[0].word.Store(uint64(claimed + owner))
		if r.Idle() || r.Ready() {
			t.Fatal("a claimed cell counts as idle or ready")
		}
		if _, _, ok := r.Peek(0); ok || len(asked) != 1 || asked[0] != owner {
			t.Fatalf("a packet %v from a cell that is only claimed; asked about %v, want %d", ok, asked, owner)
		}
		dead = true
		r.Peek(0)
		if box.cells[0].word.Load() != retired || r.pos != 1 || box.tail.Load() != 1 {
			t.Fatalf("the dead owner's cell: word %x, position %d, tail %d", box.cells[0].word.Load(), r.pos, box.tail.Load())
		}
		s := NewInboxProducer(m, 5)
		if asked = nil; !s.Push([]byte{7}, nil) {
			t.Fatal("no room behind the cell of the dead")
		}
		if _, pkt, ok := r.Peek(0); !ok || pkt[0] != 7 || len(asked) > 0 {
			t.Fatalf("%v %v, asked about %v", pkt, ok, asked)
		}
	}
}

// A retired cell is passed in every lap, by the sender and by the receiver, and only once the tail is beyond it.
func TestInboxPassesRetiredCells(t *testing.T) {
	m := area(InboxBytes)
	inboxAt(m).cells[0].word.Store(retired)
	s := NewInboxProducer(m, 1)
	r := NewInboxConsumer(m, func(int) bool { return false })
	if r.Ready() || r.Idle() {
		t.Fatalf("a retired cell that the tail has not passed is ready %v, idle %v", r.Ready(), r.Idle())
	}
	if _, _, ok := r.Peek(0); ok || r.pos != 0 {
		t.Fatal("passed a cell before the tail")
	}
	for lap := range 3 {
		for i := range inboxCells - 1 {
			if !s.Push([]byte{byte(i)}, nil) {
				t.Fatalf("lap %d: no room for packet %d", lap, i)
			}
		}
		if s.Push([]byte{0}, nil) {
			t.Fatalf("lap %d: room for a packet more than there are cells", lap)
		}
		for i := range inboxCells - 1 {
			if !r.Ready() {
				t.Fatalf("lap %d: packet %d does not count as ready", lap, i)
			}
			if _, pkt, ok := r.Peek(0); !ok || pkt[0] != byte(i) {
				t.Fatalf("lap %d: %v %v, want %d", lap, pkt, ok, i)
			}
			r.Take(1)
		}
	}
}
