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
	const want = "192 x 192 on 4 ranks: first 192, sum 83832192\n"
	var out strings.Builder
	err := weft.Local(t.Context(), 4, mpi.Program(func(ctx context.Context, c *mpi.Comm) { multiply(ctx, c, &out) }))
	if err != nil || out.String() != want {
		t.Errorf("%q, %v", out.String(), err)
	}
}
