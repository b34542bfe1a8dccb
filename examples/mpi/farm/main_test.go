package main

import (
	"context"
	"strings"
	"testing"

	"weft"
	"weft/mpi"
)

// Test: four ranks print what the C program prints.
func Test(t *testing.T) {
	const want = "17984 primes below 200000, sum of inverses 2.763614132\n"
	var out strings.Builder
	err := weft.Local(t.Context(), 4, mpi.Program(func(ctx context.Context, c *mpi.Comm) { farm(ctx, c, &out) }))
	if err != nil || out.String() != want {
		t.Errorf("%q, %v", out.String(), err)
	}
}
