//go:build mutants

package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weft/internal/interleave"
	"weft/internal/planted"
	"weft/internal/ring"
	"weft/internal/weak"
)

// A connection loses no byte and no wake-up in memory that processors see in different orders. A tail that does not
// wait for the bytes before it is found, and so is a tail that is not visible yet when its writer looks whether the
// reader sleeps.
func TestPlanted(t *testing.T) {
	planted.Find(t, "TailRelaxed", 0, 1000, weakConn)
	planted.Find(t, "TailUnfenced", 0, 1000, weakConn)
	for seed := range uint64(200) {
		if err := weakConn(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
	}
}

// A poked is a socket of which only the bytes count that wake its reader.
type poked struct{ bytes int }

func (p *poked) Control(func(uintptr)) error    { return nil }
func (p *poked) Read(func(uintptr) bool) error  { return nil }
func (p *poked) Write(func(uintptr) bool) error { p.bytes++; return nil }

// weakConn writes words at one end of a connection, and reads them at the other. Where a call of Conn would poll, nap
// or read its socket, the waiting side waits here for a byte in its socket alone.
func weakConn(seed uint64) error {
	const words = 6
	const buffer = ring.BytesLeast
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(memoryBytes(buffer), 2, pick, interleave.Point)
	defer m.Close()
	var sockets [2]poked
	end := func(i int) *Conn {
		v := m.View(i)
		c := &Conn{mem: v, raw: &sockets[1-i]}
		c.out = ring.NewByteProducer(v[[]int{callerAt, calleeAt}[i]:], v[wordsBytes+i*buffer:][:buffer])
		c.in = ring.NewByteConsumer(v[[]int{calleeAt, callerAt}[i]:], v[wordsBytes+(1-i)*buffer:][:buffer])
		c.reader.init(c, c.in, c.in.Bell(), &c.writer)
		c.writer.init(c, c.out, c.out.Bell(), &c.reader)
		return c
	}
	writer := end(0)
	reader := end(1)
	m.Begin()
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		interleave.Go(func() {
			for i := range words {
				room, _ := writer.out.Reserve()
				binary.LittleEndian.PutUint32(room, uint32(i+1))
				_ = writer.put(4)
			}
		})
		for got := 0; got < words; {
			b, _ := reader.in.Peek()
			for ; len(b) > 0; b = b[4:] {
				if got++; binary.LittleEndian.Uint32(b) != uint32(got) {
					interleave.Fail("word %d is %x", got, b[:4])
				}
				reader.take(4)
			}
			if got < words && reader.reader.arm(asleep) {
				interleave.Block(func() bool { return sockets[1].bytes > 0 }, -1)
				sockets[1].bytes--
			}
		}
	})
}
