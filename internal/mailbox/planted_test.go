//go:build mutants

package mailbox

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"weft/internal/interleave"
	"weft/internal/planted"
	"weft/internal/weak"
)

// A mailbox keeps what senders write side by side, in memory that processors see in different orders; and a record that
// does not wait for what it tells of is found.
func TestPlanted(t *testing.T) {
	planted.Find(t, "RecordRelaxed", 0, 1000, weakMailbox)
	for seed := range uint64(100) {
		if err := weakMailbox(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
	}
}

// weakMailbox lets two senders write to a ring that they share, with room for a few messages.
func weakMailbox(seed uint64) error {
	const senders = 2
	const messages = 6
	const ring = 4 * Grain
	g := Geometry{Ranks: senders, Lines: senders, Rings: 1, Slots: 4, Room: ring}
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(g.Size(), senders+1, pick, interleave.Point)
	defer m.Close()
	b, err := New(m.View(senders), g)
	if err != nil {
		return err
	}
	b.Shut(0)
	b.Place(0, 0, ring)
	for rank := range senders {
		b.SetRing(rank, 0)
	}
	reader := NewReader(b)
	m.Begin()
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		for rank := range senders {
			interleave.Go(func() { weakSender(m.View(rank), rank, messages) })
		}
		var came [senders]int
		for range senders * messages {
			var rec Record
			for !reader.Take(&rec) {
			}
			n := came[rec.From]
			came[rec.From]++
			first, second := reader.Bytes(&rec)
			if got := append(bytes.Clone(first), second...); !bytes.Equal(got, weakLetter(rec.From, n)) {
				interleave.Fail("message %d of rank %d is %x", n, rec.From, got)
			}
			if !rec.InRecord {
				reader.Release(rec.Extent)
			}
			reader.Done()
		}
	})
}

// weakLetter is the n-th message of a rank: in its record, or in the ring.
func weakLetter(rank, n int) []byte { return letter(uint64(rank*100+n), []int{24, 72, 100}[n%3]) }

// weakSender writes messages.
func weakSender(memory []byte, rank, messages int) {
	b, err := At(memory)
	if err != nil {
		interleave.Fail("%v", err)
		return
	}
	s, ok := b.Join(rank, 1)
	if !ok {
		interleave.Fail("there is no line")
		return
	}
	for n := range messages {
		for o := Full; o == Full; {
			_, _, o = s.Push(NoRing, PerPacket, uint64(n), weakLetter(rank, n), 0)
		}
	}
}
