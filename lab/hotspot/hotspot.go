// Package hotspot shows in the simulator what locks and barriers put on one rank: all ranks take a lock, or meet, at
// the same time. [Miyawaki01] gives the load at a single manager as the reason for its distributed queue lock and for
// its tree.
//
// `weftlab sim hotspot` is its command. Tested in hotspot_test.go.
package hotspot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weft"
)

// A Result is what one way puts on its ranks: one line of -json.
type Result struct {
	Test    string  `json:"test"` // "hotspot"
	What    string  `json:"what"` // one of What
	Ranks   int     `json:"ranks"`
	Busiest uint64  `json:"busiest_packets"` // sent and received by the rank that has the most
	Mean    float64 `json:"mean_packets"`
	Time    float64 `json:"time_us"` // until the last rank had its turn
}

// What are the ways: locks, which each rank takes once, and barriers.
var What = []string{"lock, central", "lock, queue", "barrier, central", "barrier, tree", "barrier, dissemination"}

// Run lets ranks on a crossbar of 10 Gb/s use one way at once.
func Run(ctx context.Context, what string, ranks int) (Result, error) {
	r := Result{Test: "hotspot", What: what, Ranks: ranks}
	packets := make([]uint64, ranks) // one rank runs at a time
	var start, end time.Duration
	_, err := weft.Simulate(ctx, weft.Cluster{Ranks: ranks}, func(ctx context.Context, p *weft.Proc) error {
		meet := p.Barrier("all", &weft.BarrierConfig{Algorithm: weft.BarrierDissemination})
		count := func() uint64 {
			s := p.Stats()
			return s.PacketsSent + s.PacketsReceived
		}
		use, err := user(p, what)
		if err != nil {
			return err
		}
		counts := []uint64{count()}
		for _, step := range []func(context.Context) error{meet.Wait, meet.Wait, use, meet.Wait} {
			if err := step(ctx); err != nil {
				return err
			}
			counts = append(counts, count())
			if len(counts) == 3 {
				start = max(start, p.Now())
			}
			if len(counts) == 4 {
				end = max(end, p.Now())
			}
		}
		// A barrier before and one after, of which the second of the first two is taken off.
		packets[p.Rank()] = max(counts[4]-counts[2], counts[2]-counts[1]) - (counts[2] - counts[1])
		return nil
	})
	r.Busiest = slices.Max(packets)
	for _, n := range packets {
		r.Mean += float64(n) / float64(ranks)
	}
	r.Time = float64(end-start) / float64(time.Microsecond)
	return r, err
}

// user returns what a rank does.
func user(p *weft.Proc, what string) (func(context.Context) error, error) {
	barrier := func(a weft.BarrierAlgorithm) (func(context.Context) error, error) {
		return p.Barrier("hot", &weft.BarrierConfig{Algorithm: a}).Wait, nil
	}
	lock := func(a weft.LockAlgorithm) (func(context.Context) error, error) {
		l := p.Lock("hot", &weft.LockConfig{Algorithm: a})
		return func(ctx context.Context) error {
			if _, err := l.Lock(ctx); err != nil {
				return err
			}
			return l.Unlock()
		}, nil
	}
	switch what {
	case "lock, central":
		return lock(weft.LockCentral)
	case "lock, queue":
		return lock(weft.LockQueue)
	case "barrier, central":
		return barrier(weft.BarrierCentral)
	case "barrier, tree":
		return barrier(weft.BarrierTree)
	case "barrier, dissemination":
		return barrier(weft.BarrierDissemination)
	}
	return nil, fmt.Errorf("hotspot: %q: there are %q", what, What)
}
