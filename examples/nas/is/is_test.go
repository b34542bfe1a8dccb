package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/examples/nas/npb"
)

func TestClassSVerifies(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			var out bytes.Buffer
			err := weft.Local(ctx, n, func(ctx context.Context, p *weft.Proc) error {
				return run(ctx, p, "S", &out)
			})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(out.String())
			if last := text[strings.LastIndexByte(text, '\n')+1:]; !strings.Contains(last, "Verification") || !strings.HasSuffix(last, " SUCCESSFUL") {
				t.Fatalf("last line: %q", last)
			}
		})
	}
}

// A single wrong expectation must fail the verification: it does compare.
func TestWrongRankFails(t *testing.T) {
	good := classes["S"]
	defer func() { classes["S"] = good }()
	for i := range tests {
		bad := good
		bad.rank[i]++
		classes["S"] = bad
		err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
			return run(ctx, p, "S", new(bytes.Buffer))
		})
		if !errors.Is(err, errWrong) {
			t.Fatalf("test key %d: %v", i, err)
		}
	}
}

func TestRandomJumpsAhead(t *testing.T) {
	r := npb.NewRandom(npb.Seed, 0)
	for n := range uint64(1000) {
		if j := npb.NewRandom(npb.Seed, n); j != r {
			t.Fatalf("after %d numbers: jumped to %d, stepped to %d", n, j, r)
		}
		r.Next()
	}
}
