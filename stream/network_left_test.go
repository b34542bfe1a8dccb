package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
)

// TestLeftIsNoError: what a rank has sent by a network to a rank that has left meanwhile, such as the end of a
// connection, is lost as on a TCP connection, and is no error of the rank.
func TestLeftIsNoError(t *testing.T) {
	err := weft.Local(within(t), 2, func(ctx context.Context, p *weft.Proc) error {
		leave, err := p.OpenPort(6, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			_, err := leave.Recv(ctx)
			return err // it has never opened the network's channel, and so has accepted nothing there
		}
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		given, end := context.WithCancel(ctx)
		end()
		if _, err := n.Dial(given, 1); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a dial that was given up: %w", err)
		}
		return errors.Join(leave.Send(ctx, 1, nil), p.Close())
	})
	if err != nil {
		t.Error(err)
	}
}
