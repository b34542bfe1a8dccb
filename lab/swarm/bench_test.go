package swarm

import (
	"testing"
	"time"
)

// BenchmarkSeed runs seed after seed on one processor.
func BenchmarkSeed(b *testing.B) {
	seed := uint64(0)
	measure(b, func() Options {
		seed++
		return FromSeed(seed)
	})
}

// BenchmarkMixed runs one long mixed workload over and over: messages, and
// operations on memory, with a hundredth of the packets lost.
func BenchmarkMixed(b *testing.B) {
	measure(b, func() Options {
		return Options{
			Seed: 1, Nodes: 5, Ops: 2000, Depth: 8, Ports: 1, Think: 50 * time.Microsecond, MTU: 1500, Window: 64,
			MaxQueue: 1024, RecvBuffer: 1 << 20, SendBuffer: 128 << 10, Threads: 1, Delay: 10 * time.Microsecond,
			Loss: 0.01, Jitter: 10 * time.Microsecond,
		}
	})
}

func measure(b *testing.B, next func() Options) {
	var delivered, events uint64
	for b.Loop() {
		r := Run(next(), nil)
		if r.Violation != nil {
			b.Fatal(r.Violation)
		}
		delivered += r.Network.Delivered
		events += r.Events
	}
	b.ReportMetric(float64(delivered)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
