package mpi

import (
	"context"

	"weft"
)

// Program returns main as a program for weft.Main, weft.Local or weft.Simulate, in which errors are fatal, as they are
// in MPI by default. Main gets World, and gives the errors that it does not handle to Check or Must: the program ends,
// its error is that error, and the job ends with it. When main returns, World is freed, which is MPI_Finalize.
func Program(main func(ctx context.Context, world *Comm)) func(ctx context.Context, p *weft.Proc) error {
	return func(ctx context.Context, p *weft.Proc) (err error) {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case fatal:
				err = r.error
			default:
				panic(r)
			}
		}()
		main(ctx, World(p))
		return World(p).Free(ctx)
	}
}

// fatal is an error that ends a Program.
type fatal struct{ error }

// Check ends the Program if err is not nil. Only the goroutine that runs the Program may call it.
func Check(err error) {
	if err != nil {
		panic(fatal{err})
	}
}

// Must returns v, and ends the Program if err is not nil: Must(c.Recv(ctx, b, from, tag)). Only the goroutine that runs
// the Program may call it.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
