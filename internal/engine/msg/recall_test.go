package msg

import (
	"errors"
	"fmt"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
)

// announce delivers the announcement of a long message of rank 1.
func (r *rig) announce(seq, token uint32) {
	r.says(1, wire.RTS{Channel: 1, Seq: seq, Token: token, Total: MaxEager + 1}.Append(nil))
}

// order lists the tokens of the messages that have arrived.
func (p *Port) order() (tokens []uint32) {
	for b := p.arrived.First(); b != nil; b = b.link.Next() {
		tokens = append(tokens, b.offer.Token)
	}
	return tokens
}

// A port is frozen when long messages have been offered whose receivers have not come yet. The messages are back in
// their order at once, so that they are saved or given up with the rest of the port; a receiver that comes when
// another program has its turn gets nothing of it.
func TestFreezingRecallsWhatWasOffered(t *testing.T) {
	for name, come := range map[string]func(p *Port, op *Op){"Fetch": (*Port).Fetch, "Fetched": (*Port).Fetched,
		"Decline": (*Port).Decline} {
		t.Run(name, func(t *testing.T) {
			d := newRig(t, 3)
			p := d.open(Config{})
			var ops []*Op
			for seq := range uint32(3) {
				d.announce(seq, 7+seq)
				op := &Op{Kind: Recv, Peer: Any, Buf: make([]byte, MaxEager+1)}
				if p.Start(op); op.State != Offered {
					t.Fatalf("%+v", op)
				}
				ops = append(ops, op)
			}
			p.Fetch(ops[1]) // this receiver has come
			d.freeze(p)
			if got := fmt.Sprint(p.order()); got != "[7 8 9]" {
				t.Errorf("messages %s have arrived", got)
			}
			if d.layer.Stats.Received != 0 {
				t.Errorf("%d messages are counted as received", d.layer.Stats.Received)
			}
			if _, err := p.Restore(nil); err != nil {
				t.Fatal(err)
			}
			if err := p.Thaw(); err != nil {
				t.Fatal(err)
			}
			next := &Op{Kind: Recv, Peer: Any}
			p.Start(next)
			for _, op := range []*Op{ops[0], ops[2]} {
				if come(p, op); op.State != Done || name != "Decline" && !errors.Is(op.Err, failure.ErrFrozen) {
					t.Errorf("a receiver that comes after the turn of its program: %v, %v", op.State, op.Err)
				}
			}
			if next.State != Pending || !p.arrived.Empty() || d.take(1) != nil {
				t.Errorf("the next program hears of it: %v", p.order())
			}
		})
	}
}
