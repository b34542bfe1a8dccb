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
	const want = "after 200 steps: heat 843.177870, last change 0.001210\n"
	var out strings.Builder
	err := weft.Local(t.Context(), 4, mpi.Program(func(ctx context.Context, c *mpi.Comm) { stencil(ctx, c, &out) }))
	if err != nil || out.String() != want {
		t.Errorf("%q, %v", out.String(), err)
	}
}
