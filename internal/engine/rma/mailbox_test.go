package rma

import (
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/mem"
)

// mailbox exposes a mailbox of one ring.
func (r *rig) mailbox(name string) *Region {
	r.t.Helper()
	g := mailbox.Geometry{Ranks: 2, Lines: 1, Slots: 16, Rings: 1, Room: 256}
	bytes := mem.Aligned(g.Size())
	box, err := mailbox.New(bytes, g)
	if err != nil {
		r.t.Fatal(err)
	}
	box.Shut(0)
	box.Place(0, 0, g.Room)
	for from := range g.Ranks {
		box.SetRing(from, 0)
	}
	region, err := r.layer.ExposeMailbox(name, box, bytes, 0, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return region
}

// TestMessageAfterRefused: of a message that was refused the rest is dropped, and the next one may have its number.
func TestMessageAfterRefused(t *testing.T) {
	d := newRig(t)
	r := d.mailbox("m")
	ipush := func(off, total uint64) (answers string) {
		t.Helper()
		f := wire.IPush{End: off+8 == total, Op: 7, Region: r.ID, Key: r.Key, Entry: wire.NoEntry, Off: off, Total: total}
		d.says(1, append(f.Append(nil), make([]byte, 8)...))
		frames, _ := d.take(1)
		for _, frame := range frames {
			answers += wire.Describe(frame)
		}
		return answers
	}
	for _, c := range []struct {
		off, total uint64
		want       string
	}{{0, 1000, "RESULT status=7 op=7"}, {8, 1000, ""}, {0, 8, "RESULT op=7"}} {
		if got := ipush(c.off, c.total); got != c.want {
			t.Errorf("%d bytes of %d: %q, want %q", c.off, c.total, got, c.want)
		}
	}
	r.Box.Want(true)
	if d.layer.Room(r); r.Box.Wanted() {
		t.Error("nobody waits for room, and it is wanted")
	}
}

// TestWithdrawnMailbox: only what waits for a mailbox ends when that is withdrawn.
func TestWithdrawnMailbox(t *testing.T) {
	d := newRig(t)
	first := d.mailbox("a")
	ops := []*Op{{Kind: Await, Region: first.ID}, {Kind: Await, Region: d.mailbox("b").ID}}
	for _, op := range ops {
		d.layer.Start(op)
	}
	d.layer.Withdraw(first)
	if !ops[0].Done || !errors.Is(ops[0].Err, failure.ErrClosed) || ops[1].Done {
		t.Errorf("%+v, %+v", ops[0], ops[1])
	}
}

// TestUndrained: what writes at a peer is open; it is not answered soon if the peer has stopped it.
func TestUndrained(t *testing.T) {
	buf := make([]byte, 8)
	for name, c := range map[string]struct {
		op         *Op
		stopped    bool
		open, soon bool
	}{
		"PULL":             {&Op{Kind: Pull, Buf: buf}, false, false, false},
		"FLUSH":            {&Op{Kind: Flush}, false, false, false},
		"PUSH":             {&Op{Kind: Push, Buf: buf}, false, true, true},
		"ATOMIC":           {&Op{Kind: Atomic}, false, true, true},
		"IPUSH":            {&Op{Kind: IPush, Region: 3, Buf: buf}, false, true, true},
		"a stopped IPUSH":  {&Op{Kind: IPush, Region: 3, Buf: buf}, true, true, false},
		"a PUSH beside it": {&Op{Kind: Push, Region: 3, Buf: buf}, true, true, true},
	} {
		d := newRig(t)
		c.op.Peer = 1
		d.layer.Start(c.op)
		d.layer.peer(1).stream(3).stopped = c.stopped
		if open, soon := d.layer.Undrained(1); open != c.open || soon != c.soon {
			t.Errorf("%s: open %v, soon %v", name, open, soon)
		}
		if n := d.layer.peer(1).q.Counts.Sent.Accesses; n != 1 {
			t.Errorf("%s: %d operations counted", name, n)
		}
	}
}
