package mpi

import (
	"context"
	"errors"
	"testing"

	"weft"
)

// TestProgram: an error that is given to Check or Must ends the program and is its error; other panics stay panics.
func TestProgram(t *testing.T) {
	ended := errors.New("over")
	err := weft.Local(t.Context(), 2, Program(func(ctx context.Context, c *Comm) {
		Check(c.Barrier(ctx))
		if c.Rank() == 1 {
			Check(ended)
		}
		_ = Must(c.Recv(ctx, Of([]int{0}), 1, 0))
		t.Error("a rank goes on without the message")
	}))
	if !errors.Is(err, ended) {
		t.Error(err)
	}
	err = weft.Local(t.Context(), 1, func(ctx context.Context, p *weft.Proc) error {
		defer func() {
			if recover() != "other" {
				t.Error("a panic has been lost")
			}
		}()
		return Program(func(context.Context, *Comm) { panic("other") })(ctx, p)
	})
	if err != nil {
		t.Error(err)
	}
}
