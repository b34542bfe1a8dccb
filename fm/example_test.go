package fm_test

import (
	"context"
	"fmt"

	"weft"
	"weft/fm"
)

// A message is sent in two pieces, and received in three: the handler learns from the first how long the others are.
func Example() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := fm.Open(ctx, p, 1, []fm.Handler{{Name: "pair", Func: func(m *fm.Message) error {
			var lengths [2]byte
			if _, err := m.Receive(lengths[:]); err != nil {
				return err
			}
			key := make([]byte, lengths[0])
			value := make([]byte, lengths[1])
			if _, err := m.Receive(key); err != nil {
				return err
			}
			if _, err := m.Receive(value); err != nil {
				return err
			}
			fmt.Printf("%s is %s, says rank %d\n", key, value, m.From)
			return nil
		}}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 0 {
			s, err := e.BeginMessageWait(ctx, 1, 11, 0)
			if err != nil {
				return err
			}
			if err := s.SendPiece(ctx, []byte{3, 6}); err != nil {
				return err
			}
			if err := s.SendPiece(ctx, []byte("skycloudy")); err != nil {
				return err
			}
			if err := s.EndMessage(ctx); err != nil {
				return err
			}
		}
		return e.Barrier(ctx) // rank 1 extracts here
	})
	fmt.Println(err)
	// Output:
	// sky is cloudy, says rank 0
	// <nil>
}
