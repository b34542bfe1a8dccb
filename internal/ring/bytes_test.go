package ring

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
)

// byteRing returns both ends of a new ring whose last part has size bytes, and its words.
func byteRing(size int) (p *ByteProducer, c *ByteConsumer, control []byte) {
	control = area(BytesControl)
	data := area(BytesMemory(size))
	return NewByteProducer(control, data), NewByteConsumer(control, data), control
}

// push writes n bytes, each of which is its number in the stream, as far as there is room.
func push(t *testing.T, p *ByteProducer, n int) (pushed int) {
	t.Helper()
	for pushed < n {
		b, err := p.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			break
		}
		b = b[:min(len(b), n-pushed)]
		for i := range b {
			b[i] = byte((p.tail + uint64(i)) % 251)
		}
		p.Commit(len(b))
		pushed += len(b)
	}
	p.Publish()
	return pushed
}

// pull reads n bytes, as far as there are some, and checks them.
func pull(t *testing.T, c *ByteConsumer, n int) (pulled int) {
	t.Helper()
	for pulled < n {
		b, err := c.Peek()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			break
		}
		b = b[:min(len(b), n-pulled)]
		for i := range b {
			if b[i] != byte((c.head+uint64(i))%251) {
				t.Fatalf("byte %d is %d", c.head+uint64(i), b[i])
			}
		}
		c.Take(len(b))
		pulled += len(b)
	}
	return pulled
}

func TestBytesKeepOrder(t *testing.T) {
	p, c, _ := byteRing(16 * BytesLeast)
	rnd := rand.New(rand.NewPCG(5, 6))
	sent := 0
	got := 0
	for got < 4<<20 {
		sent += push(t, p, rnd.IntN(64<<10))
		if c.Ready() != (sent != got) {
			t.Fatalf("ready %v with %d bytes", c.Ready(), sent-got)
		}
		got += pull(t, c, rnd.IntN(64<<10))
		if sent-got > BytesMemory(16*BytesLeast) {
			t.Fatalf("the ring holds %d bytes", sent-got)
		}
	}
	pull(t, c, sent)
	if len(p.part) != 16*BytesLeast {
		t.Errorf("the ring uses %d bytes", len(p.part))
	}
}

// A ring that was never full stays as it is. A ring that is full grows at once, whatever waits in it: it takes as much
// as its last part has, however far both ends are, and what its last part does not need is given back when it has been
// read.
func TestBytesGrow(t *testing.T) {
	const most = 8 * BytesLeast // not a power of four times the least
	for _, before := range []int{0, 1, 777, BytesLeast - 1, BytesLeast, 5*BytesLeast + 3} {
		for _, waiting := range []int{0, 1, BytesLeast} {
			p, c, _ := byteRing(most)
			for range before {
				push(t, p, 1)
				pull(t, c, 1)
			}
			push(t, p, waiting)
			if p.Grown() || p.Left() != nil {
				t.Fatal("a ring that was never full has grown, or something is left")
			}
			fits := (1 + 4 + 8) * BytesLeast
			if n := waiting + push(t, p, 2*fits); n != fits {
				t.Fatalf("%d bytes fit, want %d", n, fits)
			}
			if n := push(t, p, 1); n != 0 || c.More() {
				t.Fatal("a full ring took a byte, or its consumer knows what it has not seen")
			}
			pull(t, c, 5*BytesLeast-1)
			if n := push(t, p, 1); n != 0 || p.Left() != nil {
				t.Fatal("room in an earlier part is used, or left while a byte waits there")
			}
			pull(t, c, 1)
			if n := len(p.Left()); n != 5*BytesLeast || p.Left() != nil {
				t.Fatalf("%d bytes are left", n)
			}
			if n := pull(t, c, 100); n != 100 || push(t, p, most) != 100 {
				t.Fatal("what was read in the last part is no room")
			}
			if n := pull(t, c, 2*most); n != most || c.Ready() || c.More() {
				t.Fatalf("%d bytes came, want %d; or an empty ring is ready", n, most)
			}
		}
	}
}

// A ring shrinks when it is empty, at any place, and not before; it carries on, and grows
// again as it did at first, while the consumer has not looked.
func TestBytesShrink(t *testing.T) {
	const most = 16 * BytesLeast
	p, c, _ := byteRing(most)
	for _, left := range []int{0, 1, 777, BytesLeast - 1} {
		push(t, p, 4*most) // to the end
		if !p.Grown() || p.Shrink() {
			t.Fatal("a full ring is small, or shrinks")
		}
		if n := pull(t, c, 4*most); n != BytesMemory(most) {
			t.Fatalf("%d bytes fit", n)
		}
		push(t, p, left)
		pull(t, c, left-1)
		if left > 0 && p.Shrink() {
			t.Fatal("a ring shrinks in which a byte waits")
		}
		pull(t, c, 1)
		if written := p.Written(); !p.Shrink() || p.Grown() || p.Written() != written || c.Ready() {
			t.Fatal("an empty ring does not shrink, or is ready")
		}
	}
}

// The producer is ready when what it said it wants has come.
func TestBytesWanted(t *testing.T) {
	p, c, _ := byteRing(BytesLeast) // cannot grow: half of it is enough
	push(t, p, BytesLeast+1)
	p.Want()
	pull(t, c, BytesLeast/2-1)
	if c.Wanted() || p.Ready() {
		t.Fatalf("too early: the consumer thinks %v, the producer %v", c.Wanted(), p.Ready())
	}
	pull(t, c, 1)
	if !c.Wanted() || !p.Ready() {
		t.Fatalf("half is free: the consumer thinks %v, the producer %v", c.Wanted(), p.Ready())
	}
	p, c, _ = byteRing(4 * BytesLeast) // what waits before the last part is no room
	push(t, p, 1)
	pull(t, c, 1)
	push(t, p, 5*BytesLeast)
	p.Want()
	pull(t, c, 3*BytesLeast-1)
	if c.Wanted() || p.Ready() {
		t.Fatalf("too early: the consumer thinks %v, the producer %v", c.Wanted(), p.Ready())
	}
	pull(t, c, 1)
	if !c.Wanted() || !p.Ready() {
		t.Fatalf("half of the last part is free: the consumer thinks %v, the producer %v", c.Wanted(), p.Ready())
	}
}

func TestBytesEnds(t *testing.T) {
	p, c, _ := byteRing(BytesLeast)
	push(t, p, 3)
	p.End()
	if !c.Ready() || !c.Ended() {
		t.Fatal("the consumer does not see the end")
	}
	if pull(t, c, 10) != 3 || !c.Ready() {
		t.Fatal("what came before the end is lost, or the end is no news")
	}
	if p.Refused() {
		t.Fatal("refused")
	}
	push(t, p, 2*BytesLeast)
	p.Want()
	c.Refuse()
	if !p.Refused() || !p.Ready() {
		t.Fatal("the producer does not see that it is refused")
	}
}

// Positions that cannot be are errors, at both ends; those that could be are not.
func TestBytesRefuseNonsense(t *testing.T) {
	const more = 10 + BytesLeast // where the second part begins, where it does
	for _, bad := range []struct {
		tail   uint64
		used   uint32
		begins [2]uint64
		ok     bool
	}{
		{more, 1, [2]uint64{}, true},
		{more + 1, 1, [2]uint64{}, false},
		{9, 1, [2]uint64{}, false},
		{0, 1, [2]uint64{}, false},
		{^uint64(0), 1, [2]uint64{}, false},
		{11, 0, [2]uint64{}, false},
		{11, 3, [2]uint64{}, false},
		{11, 1 << 31, [2]uint64{}, false},
		{11, 1, [2]uint64{10}, true},
		{11, 1, [2]uint64{11}, false},
		{11, 2, [2]uint64{0, 10}, true},
		{11, 2, [2]uint64{0, 20}, true},
		{11, 2, [2]uint64{11, 20}, false},
		{more + 4*BytesLeast, 2, [2]uint64{0, more}, true},
		{more + 4*BytesLeast, 2, [2]uint64{0, more + 1}, false},
		{more + 4*BytesLeast + 1, 2, [2]uint64{0, more}, false},
		{10 + 4*BytesLeast, 2, [2]uint64{0, 5}, true},
		{11 + 4*BytesLeast, 2, [2]uint64{0, 5}, false},
	} {
		p, c, control := byteRing(4 * BytesLeast)
		push(t, p, 10)
		pull(t, c, 10)
		m := controlAt(control)
		m.tail.Store(bad.tail)
		m.used.Store(bad.used)
		for i, at := range bad.begins {
			m.begins[i].Store(at)
		}
		if _, err := c.Peek(); (err == nil) != bad.ok {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, bad := range []struct {
		head uint64
		ok   bool
	}{
		{10, true}, {10 + BytesLeast, true}, {11 + BytesLeast, false}, {9, false}, {0, false}, {^uint64(0), false},
	} {
		p, c, control := byteRing(BytesLeast)
		push(t, p, 10)
		pull(t, c, 10)
		p.head = 10
		p.read = 10
		if push(t, p, BytesLeast) != BytesLeast {
			t.Fatal("no room")
		}
		controlAt(control).head.Store(bad.head)
		if _, err := p.Reserve(); (err == nil) != bad.ok {
			t.Errorf("head %d: %v", bad.head, err)
		}
	}
}

func TestBytesConcurrent(t *testing.T) {
	p, c, _ := byteRing(4 * BytesLeast)
	const total = 4 << 20
	var wg sync.WaitGroup
	wg.Go(func() {
		for sent := 0; sent < total; {
			sent += push(t, p, min(total-sent, 1+sent%50000))
		}
	})
	for got := 0; got < total; {
		got += pull(t, c, 30000)
	}
	wg.Wait()
}

func TestBytesDoNotAllocate(t *testing.T) {
	p, c, _ := byteRing(BytesLeast)
	if n := testing.AllocsPerRun(1000, func() {
		push(t, p, 5000)
		pull(t, c, 5000)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzBytes has a peer write anything into the words of a ring, between the operations
// of both ends: they stay inside the ring, say that something is wrong, or go on.
func FuzzBytes(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
	f.Add([]byte{0x80, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3})
	f.Fuzz(func(t *testing.T, script []byte) {
		const most = 8 * BytesLeast
		p, c, control := byteRing(most)
		for len(script) > 0 {
			op := script[0]
			script = script[1:]
			switch {
			case op >= 0x80 && len(script) >= 8:
				at := []int{0, 8, 128, 256, 260, 384, 392, 12, 64, 72}[op%10]
				copy(control[at:at+4], script)
				if at%8 == 0 {
					copy(control[at:at+8], script)
				}
				if op&0x40 != 0 { // near what would be right
					binary.LittleEndian.PutUint64(control[at&^7:], c.head+uint64(script[0])<<(script[1]%16))
				}
				script = script[8:]
			case op%4 == 0:
				b, err := p.Reserve()
				if len(b) > most || err != nil && b != nil {
					t.Fatalf("%d bytes, %v", len(b), err)
				}
				n := len(b) * int(op>>2&15) / 15
				clear(b[:n])
				p.Commit(n)
				p.Publish()
			case op%4 == 1:
				p.Want()
				p.Ready()
				if op&0x40 != 0 {
					p.Left()
					p.Shrink()
				}
			case op%4 == 2:
				b, err := c.Peek()
				if len(b) > most || err != nil && b != nil {
					t.Fatalf("%d bytes, %v", len(b), err)
				}
				c.Take(len(b) * int(op>>2&15) / 15)
			case op%4 == 3:
				c.Ready()
				c.Wanted()
			}
		}
	})
}
