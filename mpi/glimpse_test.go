package mpi

import (
	"context"
	"fmt"
	"testing"

	"weft"
)

// TestNextMessageNeedsNoQueue: a receive for which the next message is meant is not posted, and the message searches no
// receives. A few are, since others of the process have just used the node, or many were taken so in a row.
func TestNextMessageNeedsNoQueue(t *testing.T) {
	const rounds = 100
	there := make(chan *Comm, 1)
	end := make(chan bool)
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		if p.Rank() == 1 {
			there <- c
			<-end
			return nil
		}
		defer close(end)
		d := <-there // one goroutine is both members: what it sends is there when it receives
		x := make([]int, 1)
		for i := range rounds {
			if err := c.Send(ctx, Of([]int{i}), 1, i); err != nil {
				return err
			}
			if st, err := d.Recv(ctx, Of(x), AnySource, i); err != nil || st != (Status{0, i, 1}) || x[0] != i {
				return fmt.Errorf("%+v, %v, %v", st, x, err)
			}
		}
		d.w.mu.Lock()
		defer d.w.mu.Unlock()
		if n := d.q.Stats().Posted.Searches; n > rounds/2 {
			return fmt.Errorf("%d of %d messages have searched for their receive", n, rounds)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
