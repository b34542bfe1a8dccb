package match_test

import (
	"context"
	"fmt"
	"testing"

	"weft"
	"weft/match"
)

// On a virtual cluster too: each rank waits for its neighbours in an order of its own.
func TestSimulated(t *testing.T) {
	c := weft.Cluster{Ranks: 16, Topology: "torus:4x4", Link: "10Gbps,1us"}
	_, err := weft.Simulate(context.Background(), c, func(ctx context.Context, p *weft.Proc) error {
		box, err := p.OpenMailbox("in", nil)
		if err != nil {
			return err
		}
		defer box.Close()
		m := match.New(p, box, nil)
		for hop := 1; hop < 4; hop++ {
			s, err := p.AttachMailbox(ctx, (p.Rank()+hop)%p.Size(), "in")
			if err != nil {
				return err
			}
			if err := s.PushTagged(ctx, uint64(hop), []byte{byte(p.Rank())}); err != nil {
				return err
			}
		}
		for hop := 3; hop > 0; hop-- {
			from := (p.Rank() - hop + p.Size()) % p.Size()
			d, err := m.Recv(ctx, from, uint64(hop), match.Exact)
			if err != nil {
				return err
			}
			if int(d.Data[0]) != from {
				return fmt.Errorf("from %d: %d", from, d.Data[0])
			}
			d.Release()
		}
		return p.Barrier("end", nil).Wait(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}
