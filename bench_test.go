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
