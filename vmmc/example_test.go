package vmmc_test

import (
	"context"
	"fmt"

	"weft"
	"weft/vmmc"
)

// Rank 0 exports memory. Rank 1 imports it, sends a text, and then the word that says that it is there.
func Example() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := vmmc.Open(p, 1, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 1 {
			board, err := e.Import(ctx, 0, "board")
			if err != nil {
				return err
			}
			if err := board.Send(ctx, 8, []byte("hello")); err != nil {
				return err
			}
			if err := board.Send(ctx, 0, []byte{5, 0, 0, 0, 0, 0, 0, 0}); err != nil {
				return err
			}
			return board.Close(ctx)
		}
		board, err := e.Export(ctx, "board", 64, &vmmc.ExportConfig{Ranks: []int{1}})
		if err != nil {
			return err
		}
		n, err := board.Await(ctx, 0, 0)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", board.Bytes()[8:8+n])
		return nil
	})
	fmt.Println(err)
	// Output:
	// hello
	// <nil>
}

// Rank 0 has the next transfer put into a buffer of its own.
func ExampleExport_Redirect() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := vmmc.Open(p, 1, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 1 {
			in, err := e.Import(ctx, 0, "in")
			if err != nil {
				return err
			}
			return in.Send(ctx, 0, make([]byte, 100_000))
		}
		in, err := e.Export(ctx, "in", 1<<20, &vmmc.ExportConfig{Redirections: 8})
		if err != nil {
			return err
		}
		buf := make([]byte, 200_000)
		r, err := in.Redirect(weft.Any, 0, buf)
		if err != nil {
			return err
		}
		land, err := r.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%d bytes from rank %d\n", land.Len, land.From)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 100000 bytes from rank 1
	// <nil>
}
