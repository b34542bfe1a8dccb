package weft

import (
	"context"
	"testing"
)

// BenchmarkPath runs both ends of the shared memory path on one goroutine: the
// instructions of a message, without the time that it travels.
func BenchmarkPath(b *testing.B) {
	ctx := context.Background()
	procs := joinAll(b, 2, &Config{Transport: "shm"})
	var q [2]*Port
	for i, p := range procs {
		var err error
		if q[i], err = p.OpenPort(1, nil); err != nil {
			b.Fatal(err)
		}
	}
	buf := make([]byte, 8)
	round := func() {
		for i := range q {
			if err := q[i].Send(ctx, 1-i, buf); err != nil {
				b.Fatal(err)
			}
			if _, _, err := q[1-i].RecvInto(ctx, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	for range 100 {
		round()
	}
	b.ReportAllocs()
	for b.Loop() {
		round()
	}
}

// BenchmarkArithmetic is what BenchmarkPath is compared with, so that one figure tells of two machines, and of one
// that is now faster and now slower: a chain of multiplications, and nothing of weft (weftlab compare -only path).
func BenchmarkArithmetic(b *testing.B) {
	x := uint64(b.N) | 1
	for b.Loop() {
		for range 200 {
			x = x*0x9e3779b97f4a7c15 ^ x>>29
		}
	}
	if x == 0 {
		b.Fatal("the chain has ended")
	}
}
