package weft

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestAlignedStart: in the simulator, where nothing else is on the way and all clocks are exact, all ranks
// of an aligned barrier go on at the same instant, worked out from the distances that they have measured.
func TestAlignedStart(t *testing.T) {
	const n = 16
	var left [n]time.Duration // one rank runs at a time
	skew := func(algorithm BarrierAlgorithm, link string) time.Duration {
		_, err := Simulate(within(t), Cluster{Ranks: n, Topology: "torus:4x4", Link: link},
			func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b", &BarrierConfig{Algorithm: algorithm})
				for range 3 {
					if err := b.Wait(ctx); err != nil {
						return err
					}
				}
				left[p.Rank()] = p.Now()
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		first := left[0]
		last := left[0]
		for _, at := range left {
			first = min(first, at)
			last = max(last, at)
		}
		return last - first
	}
	central := skew("central", "0,3us")
	aligned := skew("aligned", "0,3us")
	if aligned != 0 || central != 12*time.Microsecond {
		t.Errorf("they go on within %v; without alignment %v", aligned, central)
	}
	// Where links take time for each packet, the questions by which ranks measure that wait for each other.
	central = skew("central", "100Mbps,1us")
	aligned = skew("aligned", "100Mbps,1us")
	if aligned > central/10 {
		t.Errorf("they go on within %v; without alignment %v", aligned, central)
	}
}

// TestAlignedStartDrift: with clocks that are wrong by up to a second, and by 50 parts per million, the ranks measure
// how their clocks differ. All go on within two microseconds of the world's time, where they would within 12 without
// alignment; and where packets wait for each other on links of 100 Mbps, within a tenth.
func TestAlignedStartDrift(t *testing.T) {
	const n = 16
	skew := func(algorithm BarrierAlgorithm, link string) time.Duration {
		var left [n]time.Duration
		s, err := Simulate(within(t), Cluster{Ranks: n, Topology: "torus:4x4", Link: link, Drift: 50},
			func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b", &BarrierConfig{Algorithm: algorithm})
				for range 5 {
					if err := b.Wait(ctx); err != nil {
						return err
					}
					left[p.Rank()] = p.Now()
					if err := p.Sleep(ctx, 10*time.Millisecond); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		for i := range left {
			m := s.result.Net.Machine(i)
			world := left[i] - time.Duration(m.Offset)
			left[i] = world - world/1e6*time.Duration(m.Drift)
		}
		return slices.Max(left[:]) - slices.Min(left[:])
	}
	for link, most := range map[string]time.Duration{"0,3us": 2 * time.Microsecond, "100Mbps,1us": 0} {
		aligned := skew(BarrierAligned, link)
		central := skew(BarrierCentral, link)
		t.Logf("%s: %v, %v without alignment", link, aligned, central)
		if most = max(most, central/10); aligned > most {
			t.Errorf("%s: they go on within %v; without alignment %v", link, aligned, central)
		}
	}
}
