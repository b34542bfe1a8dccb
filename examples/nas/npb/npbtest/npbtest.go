// Package npbtest tests benchmarks with what all of them must do.
package npbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/examples/nas/npb"
)

// A Benchmark runs a class as one rank.
type Benchmark func(ctx context.Context, p *weft.Proc, class string, w io.Writer) error

// Verifies runs class S with some numbers of ranks; the last line must say that it
// was successful.
func Verifies(t *testing.T, run Benchmark, ranks ...int) {
	for _, n := range ranks {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var out bytes.Buffer // rank 0 alone writes
			err := weft.Local(ctx, n, func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, "S", &out) })
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(out.String())
			if last := text[strings.LastIndexByte(text, '\n')+1:]; !strings.Contains(last, "Verification") ||
				!strings.HasSuffix(last, " SUCCESSFUL") {
				t.Fatalf("last line: %q", last)
			}
		})
	}
}

// Refuses runs class S with an expectation spoiled: that must fail the verification,
// or it would not compare. Classes is where the benchmark looks; what spoil changes is
// put back, but for what a slice of the class holds, which it must clone.
func Refuses[C any](t *testing.T, run Benchmark, classes map[string]C, spoil func(c *C)) {
	t.Helper()
	good := classes["S"]
	defer func() { classes["S"] = good }()
	bad := good
	spoil(&bad)
	classes["S"] = bad
	err := weft.Local(t.Context(), 4,
		func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, "S", new(bytes.Buffer)) })
	if !errors.Is(err, npb.ErrWrong) {
		t.Errorf("%v", err)
	}
}

// RefusesRanks runs class S with numbers of ranks among which it cannot be divided:
// that must be an error that says so.
func RefusesRanks(t *testing.T, run Benchmark, ranks ...int) {
	t.Helper()
	for _, n := range ranks {
		err := weft.Local(t.Context(), n,
			func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, "S", new(bytes.Buffer)) })
		var e *npb.RanksError
		if !errors.As(err, &e) || e.Ranks != n {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}
