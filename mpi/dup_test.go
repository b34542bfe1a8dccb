package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestStartDup: communicators are begun, several at a time, while other operations of their parent go on, and are then
// waited for in another order. Each has messages of its own, which may come before its receiver has waited.
func TestStartDup(t *testing.T) {
	sides(t, 3, func(ctx context.Context, c *Comm) error {
		const many = 4
		var births [many]*Birth
		sum := []int{c.Rank()}
		var q *Request
		for i := range births {
			var err error
			if births[i], err = c.StartDup(); err != nil {
				return err
			}
			if i == 1 {
				if q, err = StartAllReduce(c, sum, Sum); err != nil {
					return err
				}
			}
		}
		var all [many]*Comm
		for i := range all {
			k := (i + c.Rank()) % many
			d, err := births[k].Wait(ctx)
			if err != nil {
				return err
			}
			all[k] = d
			if err := d.Send(ctx, Of([]int{10 * k}), (c.Rank()+1)%3, 0); err != nil {
				return err
			}
		}
		if _, err := q.Wait(ctx); err != nil || sum[0] != 3 {
			return fmt.Errorf("the sum is %d: %v", sum[0], err)
		}
		for k := many - 1; k >= 0; k-- {
			got := []int{0}
			if _, err := all[k].Recv(ctx, Of(got), AnySource, AnyTag); err != nil || got[0] != 10*k {
				return fmt.Errorf("in communicator %d: %v, %v", k, got, err)
			}
			if all[k].Compare(c) != Congruent {
				return errors.New("another group")
			}
			if err := all[k].Free(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
