//go:build mutants

package hostbarrier

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weft/internal/driver"
	"weft/internal/interleave"
	"weft/internal/planted"
	"weft/internal/weak"
)

// What a member wrote before it arrived is seen by all members after the barrier, in memory that processors see in
// different orders; and an arrival that does not wait for what was written before is found.
func TestPlanted(t *testing.T) {
	planted.Find(t, "ArriveRelaxed", 0, 1000, weakBarrier)
	for seed := range uint64(200) {
		if err := weakBarrier(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
	}
}

// weakBarrier lets three members meet some times. Each writes the number of the phase before it arrives.
func weakBarrier(seed uint64) error {
	const members = 3
	const phases = 3
	size := Size(members)
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(size+8*members, members, pick, interleave.Point)
	defer m.Close()
	m.Begin()
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		for me := range members {
			view := m.View(me)
			b := New(Config{
				Node: &driver.Node{}, Wait: driver.Waiting{Yields: 1 << 30, InProcess: true}, Local: []int{0, 1, 2}, Me: me,
				Window: 8, Memory: view[:size:size],
			})
			interleave.Go(func() {
				for phase := uint64(1); phase <= phases; phase++ {
					binary.LittleEndian.PutUint64(view[size+8*me:], phase)
					at, err := b.Arrive()
					if err == nil {
						err = b.Await(context.Background(), at)
					}
					if err != nil {
						interleave.Fail("%v", err)
					}
					for other := range members {
						if wrote := binary.LittleEndian.Uint64(view[size+8*other:]); wrote < phase {
							interleave.Fail("after phase %d member %d sees what member %d wrote before phase %d", phase, me, other, wrote)
						}
					}
				}
			})
		}
	})
}
