package pm_test

import (
	"context"
	"fmt"

	"weft"
	"weft/pm"
)

// Node 0 fills a buffer in place and sends it; node 1 reads it where it lies.
func Example() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		c, err := pm.Open(ctx, p, 1, nil)
		if err != nil {
			return err
		}
		defer c.Close()
		if c.Self() == 0 {
			b, err := c.GetSendBuffer(1, 100)
			if err != nil {
				return err // weft.ErrWouldBlock: receive, and try again
			}
			if err := c.Truncate(copy(b, "in place")); err != nil {
				return err
			}
			return c.Send()
		}
		for {
			b, from, err := c.Receive()
			if err == nil {
				fmt.Printf("node %d: %s\n", from, b)
				return c.ReleaseReceiveBuffer()
			}
			if err != weft.ErrWouldBlock {
				return err
			}
			if err := c.Wait(ctx); err != nil {
				return err
			}
		}
	})
	fmt.Println(err)
	// Output:
	// node 0: in place
	// <nil>
}
