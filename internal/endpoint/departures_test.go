package endpoint

import (
	"context"
	"fmt"
	"testing"

	"weft"
)

// TestDepartureFollowsMessages: a library is told that a rank has gone only behind the last message of the rank, also
// if the port had no room for it when the rank's program returned.
func TestDepartureFollowsMessages(t *testing.T) {
	const messages = 1200
	_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2}, func(ctx context.Context, p *weft.Proc) error {
		var e *Endpoint
		handled := 0
		departed := -1 // messages that had been handled then
		e, err := Open(ctx, p, 5, Config{
			Library: "test", Longest: 64, PerPeer: 1, Runner: "nothing",
			Handle: func() {
				handled++
				e.Release()
			},
			Departed: func(int, *weft.PeerError) { departed = handled },
		})
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			b := make([]byte, 64)
			e.Head(b, FirstKind, 0, 0)
			for range messages {
				if err := e.Port.Send(ctx, 0, b); err != nil {
					return err
				}
			}
			return nil
		}
		for gone := range p.Deaths(ctx) {
			if gone.Rank == 1 {
				break
			}
		}
		err = e.Until(ctx, func() bool { return departed >= 0 })
		if err != nil || departed != messages {
			return fmt.Errorf("told of the departure behind %d of %d messages: %w", departed, messages, err)
		}
		return e.Close(func() {})
	})
	if err != nil {
		t.Fatal(err)
	}
}
