package coord

import (
	"fmt"
	"slices"
	"testing"

	"weft/failure"
	"weft/internal/explore"
)

// deaths is what a lockRun knows of the ranks that have died.
type deaths struct {
	untold   []obituary // on their way to the survivors
	ofHolder bool       // the holder has died, and the next one has not been granted the lock
}

// An obituary tells rank to that rank dead has died.
type obituary struct{ to, dead int }

// runWithDeaths runs a distributed queue lock while at most two ranks die, never the lock's home. Each
// survivor hears of a death at a moment of its own. It returns what went wrong, or "".
func runWithDeaths(t testing.TB, seed uint64) string {
	r := newLockRun(t, 5, 5, seed, seed%4 == 3)
	r.sweeps = seed%2 == 1
	for idle := 0; idle < 1000 && r.wrong == ""; idle++ {
		moved := r.stepWithDeaths()
		if r.finish() || moved {
			idle = 0
		}
	}
	for rank, op := range r.ops {
		if r.wrong == "" && (op != nil || r.left[rank] > 0) {
			r.wrong = fmt.Sprintf("rank %d waits for good", rank)
		}
	}
	return r.wrong
}

// stepWithDeaths does one thing by chance, and reports whether it did any.
func (r *lockRun) stepWithDeaths() bool {
	n := len(r.nodes)
	switch k := r.rand.IntN(20); {
	case k < 8:
		return r.deliver()
	case k < 11 && len(r.deaths.untold) > 0:
		r.tellOfDeath()
		return true
	case k == 11 && len(r.dead) < 2 && r.rand.IntN(8) == 0:
		return r.kill(r.rand.IntN(n))
	case k < 16:
		rank := r.rand.IntN(n)
		if r.dead[rank] || r.ops[rank] != nil || r.left[rank] == 0 {
			return false
		}
		kind := Lock
		if r.rand.IntN(4) == 0 {
			kind = TryLock
		}
		r.ask(rank, kind)
		return true
	case k == 16:
		rank := r.rand.IntN(n)
		op := r.ops[rank]
		if op == nil || rank == r.holder || r.rand.IntN(4) != 0 || !r.nodes[rank].Cancel(op) {
			return false
		}
		r.ops[rank] = nil
		return true
	case k == 17 && r.sweeps:
		r.forget(r.rand.IntN(n))
		return false
	case r.holder >= 0:
		r.unlock()
		return true
	}
	return false
}

// forget makes a rank forget what nothing depends on. The rank goes on with its handle, or with a new one.
func (r *lockRun) forget(rank int) {
	if r.dead[rank] {
		return
	}
	node := r.nodes[rank]
	node.forgetObjects()
	node.forgetHomes()
	if r.ops[rank] == nil && r.rand.IntN(2) == 0 {
		r.locks[rank], _ = node.Open(0, r.locks[rank].Config) // cannot fail: it has been opened before
	}
}

// kill kills a rank that lives and is not the lock's home. What it has sent before still arrives.
func (r *lockRun) kill(rank int) bool {
	if r.dead[rank] || rank == r.nodes[0].homeOf(r.locks[0].ID) {
		return false
	}
	r.left[rank] = 0
	r.ops[rank] = nil
	if r.holder == rank {
		r.holder = -1
		r.deaths.ofHolder = true
	}
	r.collect()
	r.dead[rank] = true
	for to := range r.nodes {
		if to != rank {
			r.deaths.untold = append(r.deaths.untold, obituary{to, rank})
		}
	}
	return true
}

// tellOfDeath tells a rank, if it lives, of a death of which it has not heard.
func (r *lockRun) tellOfDeath() {
	i := r.rand.IntN(len(r.deaths.untold))
	o := r.deaths.untold[i]
	r.deaths.untold = slices.Delete(r.deaths.untold, i, i+1)
	if !r.dead[o.to] {
		r.nodes[o.to].Down(o.dead, &failure.PeerError{Rank: o.dead})
	}
}

// TestQueueLockDeaths: whichever ranks die, and whenever others hear of it or forget the lock, the lock goes
// on, is held by one at a time, and the next holder is told.
func TestQueueLockDeaths(t *testing.T) {
	for seed := range explore.Choose[uint64](2500, 10000) {
		if wrong := runWithDeaths(t, seed); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}
