package weft

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// greet sends a message round the ring of ranks, as examples/hello does.
func greet(ctx context.Context, p *Proc) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if err := q.Send(ctx, (p.Rank()+1)%p.Size(), []byte("hello")); err != nil {
		return err
	}
	m, err := q.Recv(ctx)
	if err == nil {
		m.Release()
	}
	return err
}

// TestProportion: what a rank costs does not depend on the size of its job, from the start to the end: packets, events,
// and bytes of memory.
func TestProportion(t *testing.T) {
	cost := func(n int) (packets, events, bytes float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := Simulate(within(t), Cluster{Ranks: n}, greet)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		per := func(x uint64) float64 { return float64(x) / float64(n) }
		return per(s.Packets), per(s.Events), per(after.TotalAlloc - before.TotalAlloc)
	}
	packets, events, bytes := cost(16)
	for _, n := range []int{256, 1024} {
		p, e, b := cost(n)
		if p > 1.05*packets || e > 1.1*events || b > 1.5*bytes || b > 200<<10 {
			t.Errorf("%d ranks: %.1f packets, %.1f events and %.0f bytes a rank; with 16 ranks %.1f, %.1f and %.0f",
				n, p, e, b, packets, events, bytes)
		}
	}
}

// TestLongPath: a program that configures nothing uses a long path well: windows and buffers follow its delay.
func TestLongPath(t *testing.T) {
	for _, size := range []int{64 << 10, 1 << 20} {
		count := 128 << 20 / size
		s, err := Simulate(within(t), Cluster{Ranks: 2, Link: "10Gbps,1ms"}, func(ctx context.Context, p *Proc) error {
			return workloads["stream"](ctx, p, size, count)
		})
		if err != nil {
			t.Fatal(err)
		}
		if rate := float64(size*count) / s.Time.Seconds(); rate < 0.6*10e9/8 || s.Resent > 8 {
			t.Errorf("messages of %d bytes: %.0f MB/s in %v, %d packets sent again", size, rate/1e6,
				s.Time.Round(time.Microsecond), s.Resent)
		}
	}
}
