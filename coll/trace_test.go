package coll

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"weft"
	"weft/internal/amt"
)

// A trace counts operations of all ranks apart, but not those of some, nor what
// goes from one member to another.
func TestTraceTellsPartners(t *testing.T) {
	var b bytes.Buffer
	_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 8, Trace: &b}, func(ctx context.Context, p *weft.Proc) error {
		all, err := Open(p, 1, nil)
		if err != nil {
			return err
		}
		me := p.Rank()
		pair, err := Open(p, 2, []int{me &^ 1, me | 1})
		if err != nil {
			return err
		}
		x := []int{me}
		return errors.Join(
			Barrier(ctx, all), Exchange(ctx, all, (me+1)%8, x, (me+7)%8, x), AllReduce(ctx, all, x, Sum),
			AllReduce(ctx, pair, x, Sum), AllReduce(ctx, pair, x, Sum),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := amt.ReadParts(&b)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := amt.NewTrace(parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tr.Receivers() {
		partners := map[int]uint64{}
		collective := 0
		for _, s := range r.Senders {
			if s.Partner.Messages > 0 {
				partners[s.Rank] = s.Partner.Messages
			}
			collective += int(s.Collective.Messages)
		}
		want := map[int]uint64{(r.Rank + 7) % 8: 1}
		want[r.Rank^1] += 2
		if collective != 6 || len(partners) != len(want) || partners[r.Rank^1] != want[r.Rank^1] ||
			partners[(r.Rank+7)%8] != want[(r.Rank+7)%8] {
			t.Errorf("rank %d: partners %v, %d messages of collective operations", r.Rank, partners, collective)
		}
	}
}
