package am_test

import (
	"context"
	"fmt"

	"weft"
	"weft/am"
)

// Rank 0 asks rank 1 for a square. The request runs a handler there, and its reply runs one here.
func Example() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		const (
			square = 0
			result = 1
		)
		answered := false
		e, err := am.Open(ctx, p, 1, []am.Handler{
			square: {Name: "square", Func: func(c *am.Call) error { return c.Reply(result, c.Words[0]*c.Words[0]) }},
			result: {Name: "result", Func: func(c *am.Call) error {
				fmt.Println(c.Words[0], "from rank", c.From)
				answered = true
				return nil
			}},
		}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 0 {
			if err := e.Request(ctx, 1, square, 12); err != nil {
				return err
			}
			if err := e.Until(ctx, func() bool { return answered }); err != nil {
				return err
			}
		}
		return e.Barrier(ctx) // rank 1 serves here
	})
	fmt.Println(err)
	// Output:
	// 144 from rank 1
	// <nil>
}
