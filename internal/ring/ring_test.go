package ring

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"weft/internal/mem"
)

// area returns zeroed memory aligned to a cache line.
func area(n int) []byte {
	b := mem.Aligned(n + line)
	return b[(line-mem.Addr(b)%line)%line:][:n:n]
}

func TestPairKeepsOrderAndBytes(t *testing.T) {
	m := area(PairBytes)
	p := NewProducer(m)
	c := NewConsumer(m)
	rnd := rand.New(rand.NewPCG(1, 2))
	var sent, got uint64
	for got < 20000 {
		for rnd.IntN(3) > 0 {
			size := 8 + rnd.IntN(100)
			if rnd.IntN(10) == 0 {
				size = 8 + rnd.IntN(MaxPacket-8)
			}
			b := bytes.Repeat([]byte{byte(sent)}, size)
			binary.LittleEndian.PutUint64(b, sent)
			cut := rnd.IntN(size)
			if !p.Push(b[:cut], b[cut:]) {
				break
			}
			sent++
		}
		n := 0
		size := 0
		for limit := rnd.IntN(40); n < limit; n++ {
			pkt, ok := c.Peek(n)
			if !ok {
				break
			}
			if v := binary.LittleEndian.Uint64(pkt); v != got {
				t.Fatalf("packet %d where %d was due", v, got)
			}
			if len(pkt) > 8 && pkt[len(pkt)-1] != byte(got) {
				t.Fatalf("packet %d has other bytes", got)
			}
			size += len(pkt)
			got++
		}
		c.Take(n, size)
	}
}

func TestPairFullAndDrained(t *testing.T) {
	m := area(PairBytes)
	p := NewProducer(m)
	c := NewConsumer(m)
	n := 0
	for p.Push([]byte{1}, nil) {
		n++
	}
	if n != pairCells {
		t.Fatalf("%d packets fit, want %d", n, pairCells)
	}
	if p.Drained() {
		t.Fatal("drained while full")
	}
	c.Take(n, n)
	c.Publish()
	if !p.Drained() || !p.Push([]byte{2}, nil) {
		t.Fatal("no room after everything was taken")
	}
	q := NewConsumer(m)
	if pkt, ok := q.Peek(0); !ok || pkt[0] != 2 {
		t.Fatalf("a new consumer sees %v %v", pkt, ok)
	}
}

// A producer that writes nonsense must not make the consumer read outside.
func TestPairHostile(t *testing.T) {
	m := area(PairBytes)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		c := NewConsumer(m)
		for i := 2 * line; i < 2*line+pairCells*line; i += 4 {
			binary.LittleEndian.PutUint32(m[i:], rnd.Uint32()>>rnd.IntN(32))
		}
		binary.LittleEndian.PutUint32(m[2*line:], 1)
		if pkt, ok := c.Peek(0); ok && len(pkt) > MaxPacket {
			t.Fatalf("a packet of %d bytes", len(pkt))
		}
	}
}

func TestPairConcurrent(t *testing.T) {
	m := area(PairBytes)
	const total = 50000
	var wg sync.WaitGroup
	wg.Go(func() {
		p := NewProducer(m)
		var b [100]byte
		for i := uint64(0); i < total; {
			binary.LittleEndian.PutUint64(b[:], i)
			if p.Push(b[:8+i%90], nil) {
				i++
			} else {
				runtime.Gosched()
			}
		}
	})
	c := NewConsumer(m)
	for i := uint64(0); i < total; {
		pkt, ok := c.Peek(0)
		if !ok {
			runtime.Gosched()
			continue
		}
		if v := binary.LittleEndian.Uint64(pkt); v != i || len(pkt) != int(8+i%90) {
			t.Fatalf("got %d of %d bytes, want %d", v, len(pkt), i)
		}
		c.Take(1, len(pkt))
		i++
	}
	wg.Wait()
}

func TestInboxManyProducers(t *testing.T) {
	m := area(InboxBytes)
	const (
		producers = 4
		each      = 5000
	)
	var wg sync.WaitGroup
	for rank := range producers {
		wg.Go(func() {
			s := NewInboxProducer(m, rank)
			var b [200]byte
			for i := uint64(0); i < each; {
				binary.LittleEndian.PutUint64(b[:], i)
				if s.Push(b[:8], b[8:8+i%150]) {
					i++
				} else {
					runtime.Gosched()
				}
			}
		})
	}
	r := NewInboxConsumer(m, func(int) bool { return false })
	var next [producers]uint64
	for n := 0; n < producers*each; {
		from, pkt, ok := r.Peek(0)
		if !ok {
			runtime.Gosched()
			continue
		}
		if v := binary.LittleEndian.Uint64(pkt); v != next[from] || len(pkt) != int(8+v%150) {
			t.Fatalf("from %d: %d of %d bytes, want %d", from, v, len(pkt), next[from])
		}
		next[from]++
		r.Take(1)
		n++
	}
	wg.Wait()
}

// A producer that is killed between claiming a cell and filling it blocks the
// ring until it is known to be dead, and not longer.
func TestInboxDeadProducer(t *testing.T) {
	m := area(InboxBytes)
	dead := false
	r := NewInboxConsumer(m, func(rank int) bool { return dead && rank == 7 })
	s := NewInboxProducer(m, 1)
	if !s.Push([]byte{1}, nil) {
		t.Fatal("no room")
	}
	box := inboxAt(m)
	at := box.tail.Load()
	box.cells[at].word.Store(uint64(claimed + 7)) // rank 7 dies here, before it moves the tail
	for i := byte(2); i < 5; i++ {
		if !s.Push([]byte{i}, nil) {
			t.Fatal("no room behind the claimed cell")
		}
	}
	take := func(want byte) {
		t.Helper()
		_, pkt, ok := r.Peek(0)
		if !ok || pkt[0] != want {
			t.Fatalf("got %v %v, want %d", pkt, ok, want)
		}
		r.Take(1)
	}
	take(1)
	if _, _, ok := r.Peek(0); ok {
		t.Fatal("passed a cell whose owner may be alive")
	}
	dead = true
	for lap := range 3 {
		for i := byte(2); i < 5; i++ {
			take(i)
		}
		if !s.Drained() {
			t.Fatal("not drained")
		}
		for range inboxCells - 1 { // once around, past the retired cell
			if !s.Push([]byte{9}, nil) {
				t.Fatalf("lap %d: no room", lap)
			}
			take(9)
		}
		for i := byte(2); i < 5; i++ {
			s.Push([]byte{i}, nil)
		}
	}
}

func TestRingsDoNotAllocate(t *testing.T) {
	m := area(PairBytes)
	n := area(InboxBytes)
	p := NewProducer(m)
	c := NewConsumer(m)
	s := NewInboxProducer(n, 1)
	r := NewInboxConsumer(n, func(int) bool { return false })
	b := make([]byte, 4000)
	if got := testing.AllocsPerRun(1000, func() {
		p.Push(b[:20], b)
		pkt, _ := c.Peek(0)
		c.Take(1, len(pkt))
		s.Push(b[:20], b)
		r.Peek(0)
		r.Take(1)
	}); got != 0 {
		t.Fatalf("%v allocations", got)
	}
}

// inboxFrom returns the memory of an inbox that so many packets have gone through.
func inboxFrom(pos uint64) ([]byte, func(dead func(rank int) bool) *InboxConsumer) {
	m := area(InboxBytes)
	box := inboxAt(m)
	box.tail.Store(pos)
	for i := range box.cells {
		lap := pos / inboxCells
		if uint64(i) < pos%inboxCells {
			lap++
		}
		box.cells[i].word.Store(lap << 32)
	}
	return m, func(dead func(rank int) bool) *InboxConsumer {
		r := NewInboxConsumer(m, dead)
		r.pos = pos
		return r
	}
}

// The lap of a cell has 32 bits and counts on from 0 after 2^38 packets: that
// changes nothing, wherever a producer dies.
func TestInboxLapWraps(t *testing.T) {
	for _, before := range []uint64{0, 1, 3, inboxCells, inboxCells + 1} {
		m, open := inboxFrom(1<<38 - before)
		dead := false
		r := open(func(rank int) bool { return dead && rank == 7 })
		s := NewInboxProducer(m, 1)
		box := inboxAt(m)
		take := func(want byte) {
			t.Helper()
			_, pkt, ok := r.Peek(0)
			if !ok || pkt[0] != want {
				t.Fatalf("%d before the end: got %v %v, want %d", before, pkt, ok, want)
			}
			r.Take(1)
		}
		for i := range byte(2*inboxCells + 2) {
			if i%inboxCells == 5 { // rank 7 dies between its claim and the tail
				tail := box.tail.Load()
				box.cells[tail%inboxCells].word.Store(tail/inboxCells<<32 | claimed + 7)
			}
			if !s.Push([]byte{i}, nil) {
				t.Fatalf("%d before the end: no room for packet %d", before, i)
			}
			if s.Drained() {
				t.Fatalf("%d before the end: packet %d has not been taken, and counts as such", before, i)
			}
			dead = true
			take(i)
			dead = false
			if !s.Drained() {
				t.Fatalf("%d before the end: packet %d has been taken, and does not count as such", before, i)
			}
		}
	}
}
