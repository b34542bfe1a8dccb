package mpi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"weft"
	"weft/internal/amt"
)

// A trace counts operations of all ranks apart, but not those of some, nor what
// goes from one member to another.
func TestTraceTellsPartners(t *testing.T) {
	var b bytes.Buffer
	_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 8, Trace: &b}, func(ctx context.Context, p *weft.Proc) error {
		all := World(p)
		me := p.Rank()
		pair, err := all.Split(ctx, me/2, 0)
		if err != nil {
			return err
		}
		x := []int{me}
		_, err = all.SendRecv(ctx, Of(x), (me+1)%8, 0, Of([]int{0}), (me+7)%8, 0)
		return errors.Join(err, all.Barrier(ctx), AllReduce(ctx, all, x, Sum), AllReduce(ctx, pair, x, Sum),
			AllReduce(ctx, pair, x, Sum))
	})
	if err != nil {
		t.Fatal(err)
	}
	partners := [8]map[int]uint64{} // messages by receiver and sender
	var collective [8]uint64
	for d := json.NewDecoder(&b); d.More(); {
		var head amt.Head
		if err := d.Decode(&head); err != nil {
			t.Fatal(err)
		}
		for range head.Rows {
			var row amt.Row
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			if row.Kind == amt.Collective {
				collective[row.To] += row.Messages
				continue
			}
			if partners[row.To] == nil {
				partners[row.To] = map[int]uint64{}
			}
			partners[row.To][head.Rank] += row.Messages
		}
		var sent, posted, came uint64
		for range head.Events {
			var e amt.Event
			if err := d.Decode(&e); err != nil {
				t.Fatal(err)
			}
			switch e.What {
			case amt.Sent:
				sent++
			case amt.Posted:
				posted++
			case amt.Came:
				came++
			}
		}
		if sent < came || posted == 0 || posted != came {
			t.Errorf("rank %d: %d messages sent, %d receives posted, %d messages came", head.Rank, sent, posted, came)
		}
	}
	for rank, have := range partners {
		want := map[int]uint64{(rank + 7) % 8: 1}
		want[rank^1] += 2
		if collective[rank] != 9 || !maps.Equal(have, want) {
			t.Errorf("rank %d: partners %v, %d messages of collective operations", rank, have, collective[rank])
		}
	}
}
