package msg

import (
	"testing"

	"weft/internal/engine/wire"
)

// TestTurnedAway: the sender of a long message is told when its receiver gives the message up, or closes the port. It
// is told nothing of that if the receiver wants so, or leaves: then it hears the reason in another way.
func TestTurnedAway(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(d *rig, p *Port, op *Op)
		told bool
	}{
		"declined": {func(_ *rig, p *Port, op *Op) { p.Decline(op) }, true},
		"quietly":  {func(_ *rig, p *Port, op *Op) { op.Quiet = true; p.Decline(op) }, false},
		"closed":   {func(_ *rig, p *Port, _ *Op) { p.Close() }, true},
		"leaves":   {func(d *rig, p *Port, op *Op) { d.layer.Drain(); p.Close(); p.Decline(op) }, false},
		"declined as it leaves": {func(d *rig, p *Port, op *Op) {
			d.layer.Drain()
			p.Decline(op)
		}, false},
	} {
		d := newRig(t, 2)
		p := d.open(Config{})
		d.announce(0, 7)
		op := &Op{Kind: Recv, Peer: 1, Aside: true}
		if p.Start(op); op.State != Offered {
			t.Fatalf("%+v", op)
		}
		d.announce(1, 8) // waits in the port
		d.take(1)
		c.end(d, p, op)
		told := false
		for _, b := range d.take(1) {
			told = told || wire.Type(b[0]) == wire.TypeFetched
		}
		if told != c.told {
			t.Errorf("%s: the sender is told: %v", name, told)
		}
	}
}

// TestSettledEarly: a long message is received when all its bytes have come and its sender has confirmed it, whatever
// the sender says before.
func TestSettledEarly(t *testing.T) {
	d := newRig(t, 2)
	p := d.open(Config{})
	d.announce(0, 7)
	op := &Op{Kind: Recv, Peer: 1}
	if p.Start(op); op.State != Offered {
		t.Fatalf("%+v", op)
	}
	op.Buf = make([]byte, op.Offer.Total)
	p.Fetch(op)
	d.says(1, append(wire.Piece{Token: 7}.Append(nil), make([]byte, op.Offer.Total-1)...))
	d.says(1, wire.Settled{Status: wire.StatusOK, Token: 7}.Append(nil))
	if op.State != Pending || op.Offer.Total != 0 {
		t.Errorf("a message of which a byte has not come: %+v", op)
	}
}
