package link

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestReplayWindowChanges: no counter is fresh twice, however often the window becomes
// short and long again, and what is young enough, and has not been seen since, is fresh.
func TestReplayWindowChanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var w replayWindow
	seen := map[uint64]bool{0: true}
	var changed uint64 // the highest counter when the window was short last
	for range 200_000 {
		switch rnd.IntN(100) {
		case 0:
			if w.seen == nil {
				changed = w.top
				w.widen()
			}
		case 1:
			if w.seen != nil {
				w.shorten()
			}
		}
		c := w.top + uint64(rnd.IntN(40))
		c -= min(c, uint64(rnd.IntN(40)*rnd.IntN(40)))
		fresh := w.fresh(c)
		young := w.top < c+replayShort
		if w.seen != nil {
			young = w.top < c+replaySize && changed < c+replayShort
		}
		if fresh && seen[c] || young && !fresh && !seen[c] {
			t.Fatalf("counter %d: fresh %v, and seen %v; the highest is %d", c, fresh, seen[c], w.top)
		}
		if fresh {
			w.mark(c)
			seen[c] = true
		}
	}
}

// TestRest: links over which nothing has gone for a while hold no slots, keys and frames,
// and still exchange signs of life; the next frame arrives as those before.
func TestRest(t *testing.T) {
	for _, g := range []Guard{Checked, Tagged, Encrypted} {
		r := newRig(t, 1, Config{Selective: true, Liveness: time.Second}, faults{lose: 0.1, delay: time.Millisecond})
		for _, e := range r.ends {
			e.conn.Guard(g)
			e.conn.Await(r.now, true)
		}
		rests := func(want bool) {
			t.Helper()
			for i, e := range r.ends {
				c := e.conn
				if c.Resting() != want || want &&
					(c.send.slots != nil || c.recv.kept.shelf != nil || c.auth.out.keys != nil || c.auth.in.keys != nil) {
					t.Errorf("guard %v: end %d rests: %v, want %v", g, i, c.Resting(), want)
				}
			}
		}
		r.run(100, 100)
		rests(false)
		for until := r.now.Add(5 * time.Second); r.now < until; {
			r.step()
		}
		rests(true)
		r.ends[0].todo = 1
		for r.ends[1].got < 101 {
			r.step()
		}
		rests(false)
	}
}
