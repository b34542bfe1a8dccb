//go:build mutants

package mpi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/interleave"
	"weft/internal/mem"
	"weft/internal/planted"
)

// TestPlanted plants bugs in the agreement: seeds of whole programs find them, too. (An outcast that is not told finds
// out by silence in the end, so Unaccused is for package agreement.)
func TestPlanted(t *testing.T) {
	for _, bug := range []string{"DecidedEarly", "LockForgotten", "OldView"} {
		planted.Find(t, bug, 0, 500, func(seed uint64) error { return surviving(t.Context(), seed) })
	}
}

// TestPlantedLatch: what updates of arrays and of words add at the same time is not lost, also if a member dies while
// it has all latches.
func TestPlantedLatch(t *testing.T) {
	for seed := range uint64(300) {
		if err := latched(seed); err != nil {
			t.Fatalf("seed %d, without a bug: %v", seed, err)
		}
	}
	planted.Find(t, "OneLatch", 0, 100, latched)
}

// slowly adds in two steps.
type slowly struct{}

func (slowly) apply(dst, src []byte) {
	for off := 0; off < len(dst); off += 8 {
		v := mem.Load64(dst, off)
		interleave.Point()
		mem.Store64(dst, off, v+mem.Load64(src, off))
	}
}

// latched has two members update an array, one a word, and one that dies.
func latched(seed uint64) error {
	const members = 4
	const words = 3
	memory := mem.Aligned(members * latchBytes)
	array := mem.Aligned(8 * words)
	ones := slices.Repeat([]uint64{1}, words)
	dead := false
	going := members
	act := func(me int) {
		l := &latches{memory, []int{0, 1, 2, 3}, me, uint64(me) + 1, func(rank int) bool { return dead && rank == 3 }}
		switch {
		case me < 2:
			l.update(array, &access{kind: accumulate, plain: slowly{}}, mem.Bytes(ones))
		case me == 2:
			l.lock()
			interleave.Point()
			mem.Add64(array, 0, 1)
			l.unlock()
		default:
			l.lockAll()
			interleave.Point()
			dead = true
		}
		going--
	}
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	err := (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		for me := range members {
			interleave.Go(func() { act(me) })
		}
		interleave.Block(func() bool { return going == 0 }, -1)
	})
	if got := mem.View[uint64](array, words); err == nil && (got[0] != 3 || got[1] != 2) {
		err = fmt.Errorf("the words are %v", got)
	}
	return err
}
