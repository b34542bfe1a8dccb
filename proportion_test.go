package weft

import (
	"cmp"
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

// TestLongPath: a program that configures nothing uses a long path well, in both directions at once: windows and
// buffers follow its delay, and what is lost is all that is sent again. Half of what is sent pays for the start.
func TestLongPath(t *testing.T) {
	for _, c := range []struct {
		size, mib int
		link      string
		loss      float64
		least     float64 // of the link's rate
		late      float64 // of that, in the second half
	}{
		{64 << 10, 64, "10Gbps,1ms", 0, 0.65, 0.85},
		{1 << 20, 64, "10Gbps,1ms", 0.0001, 0.6, 0.75}, // by the seed 0.76 to 1
		{1 << 20, 160, "10Gbps,10ms", 0, 0.27, 0.85},
	} {
		count := c.mib << 20 / c.size
		var half, whole time.Duration // when rank 0 had so much
		cluster := Cluster{Ranks: 2, Link: c.link, Loss: c.loss}
		s, err := Simulate(within(t), cluster, func(ctx context.Context, p *Proc) error {
			return sendAround(ctx, p, c.size, count, func(i int) {
				switch {
				case p.Rank() != 0:
				case i == count/2:
					half = p.Now()
				case i == count:
					whole = p.Now()
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		bytes := float64(count * c.size)
		late := bytes / 2 / (whole - half).Seconds() / (10e9 / 8)
		if rate := bytes / whole.Seconds() / (10e9 / 8); rate < c.least || late < c.late || s.Resent > 2*s.Lost+8 {
			t.Errorf("messages of %d bytes over %s, %g lost: %.3f of the rate, %.3f of it in the second half, %d packets sent "+
				"again, %d lost", c.size, c.link, c.loss, rate, late, s.Resent, s.Lost)
		}
	}
}

// sendAround sends messages to the next rank while it receives as many, and tells how many have come.
func sendAround(ctx context.Context, p *Proc, size, count int, came func(int)) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	var failed error
	sending := p.Go(func() {
		b := make([]byte, size)
		for range count {
			failed = cmp.Or(failed, q.Send(ctx, (p.Rank()+1)%p.Size(), b))
		}
	})
	b := make([]byte, size)
	for i := range count {
		if err := received(q.RecvInto(ctx, b)); err != nil {
			return err
		}
		came(i + 1)
	}
	return cmp.Or(sending.Wait(ctx), failed, q.Flush(ctx))
}
