package match_test

import (
	"context"
	"fmt"

	"weft"
	"weft/match"
)

// Rank 1 sends a result and then a report. Rank 0 asks for the report first.
func Example() {
	const (
		result = 1
		report = 2
	)
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 1 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			if err != nil {
				return err
			}
			if err := s.PushTagged(ctx, result, []byte("42")); err != nil {
				return err
			}
			return s.PushTagged(ctx, report, []byte("done"))
		}
		box, err := p.OpenMailbox("in", nil)
		if err != nil {
			return err
		}
		defer box.Close()
		m := match.New(p, box, nil)
		for _, tag := range []uint64{report, result} {
			d, err := m.Recv(ctx, match.Any, tag, match.Exact)
			if err != nil {
				return err
			}
			fmt.Printf("%s from rank %d\n", d.Data, d.From)
			d.Release()
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// done from rank 1
	// 42 from rank 1
	// <nil>
}
