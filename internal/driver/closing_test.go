package driver

import (
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/transport"
)

// From Quit on every operation that begins fails with ErrClosed, and nothing is taken, lent or sent; after Close the
// same holds, and what is given back or withdrawn is left alone.
func TestNothingBeginsLate(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[1]
	p := r.ports[1]
	o, err := n.Object(coord.Config{Name: "lock", Class: coord.QueueLock})
	region, err2 := n.Expose("region", make([]byte, 8), 0, false, 0, nil)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	block := n.Reserve(p, 0, 8)
	use := block.Use()
	began := func(f func(c *Call) error) func() error {
		return func() error {
			c := NewCall()
			defer c.Free()
			c.Msg.Kind = msg.Send
			c.Msg.Buf = make([]byte, 1)
			c.RMA.Kind = rma.Pull
			c.RMA.Buf = make([]byte, 1)
			return f(c)
		}
	}
	refused := func(ok bool) error {
		if ok {
			return nil
		}
		return failure.ErrClosed
	}
	ctx := t.Context()
	operations := map[string]func() error{
		"Memory": began(func(c *Call) error {
			n.Begin(c)
			if !n.Ended(c) {
				return errors.New("it has not ended")
			}
			return n.Wait(ctx, c)
		}),
		"Message":       began(func(c *Call) error { return n.Message(ctx, p, c) }),
		"Launch":        began(func(c *Call) error { n.Launch(p, c); return n.Wait(ctx, c) }),
		"Send":          func() error { return refused(n.Send(p, 0, nil, false)) },
		"SendMore":      func() error { ok, more := n.SendMore(p, 0, nil, 1); return refused(ok || more) },
		"Receive":       func() error { _, _, err := n.Receive(ctx, p, msg.Any, nil); return err },
		"TryReceive":    func() error { _, _, err := n.TryReceive(p, msg.Any, nil); return err },
		"Accept":        func() error { _, err := n.Accept(ctx, p, msg.Any); return err },
		"Reserve":       func() error { return refused(n.Reserve(p, 0, 8) != nil) },
		"TryReserve":    func() error { return refused(n.TryReserve(p, 0, 8) != nil) },
		"Object":        func() error { _, err := n.Object(coord.Config{Name: "late", Class: coord.Semaphore}); return err },
		"Coordinate":    func() error { _, err := n.Coordinate(ctx, o, coord.Lock, 0); return err },
		"Retake":        func() error { _, _, ok := n.Retake(o); return refused(ok) },
		"Free":          func() error { return refused(n.Free(o)) },
		"Expose":        func() error { _, err := n.Expose("late", make([]byte, 8), 0, false, 0, nil); return err },
		"ExposeMailbox": func() error { _, err := n.ExposeMailbox("late", nil, nil, 0, false); return err },
		"Put":           func() error { return n.Put(&rma.Op{Kind: rma.Push, Region: region.ID, Buf: make([]byte, 1)}) },
		"Thaw":          func() error { return n.Thaw(p) },
		"Save":          func() error { _, _, err := n.Save(p, nil); return err },
		"Restore":       func() error { return n.Restore(p, nil) },
		"Open":          func() error { _, err := n.Open(9, msg.Config{}); return err },
		"Reach":         func() error { _, err := n.Reach(ctx, 0); return err },
		"Spin":          func() error { _, err := n.Spin(ctx, func() bool { return false }); return err },
		"Departure":     func() error { _, err := n.AwaitDeparture(ctx, &Deaths{}); return err },
		"Recover":       func() error { return refused(!n.Recover(region, func([]*mailbox.Arrival) bool { return false })) },
	}
	for _, state := range []string{"quit", "closed"} {
		if n.Quit(); state == "closed" {
			n.Close(0, "")
		}
		for name, operation := range operations {
			if err := operation(); !errors.Is(err, failure.ErrClosed) {
				t.Errorf("%s: %s: %v", state, name, err)
			}
		}
		if !n.Closing() || !n.Leaving() {
			t.Errorf("%s: it does not say so", state)
		}
	}
	polls := r.pipes[1].polls.Load()
	n.Discard(p, 0, block, use)
	n.Release(p, block, use)
	n.Withdraw(region)
	n.ClosePort(p)
	n.Revoke(p, nil, 0, "")
	n.Room(region)
	n.Knock(0, region.ID)
	n.Down(0, errors.New("late"), false)
	n.Returned(0)
	n.Notify(p, nil)
	n.Assist()
	n.Events(func() transport.Transport { return r.pipes[1] }).Up(7)
	if p := n.Peer(7); p != nil && p.Transport != nil {
		t.Error("a peer connects")
	}
	if left := n.Drain(ctx, 0); left != nil {
		t.Errorf("%v have not been accepted", left)
	}
	if rep := n.Report(); !rep.Done || rep.Waits != nil || rep.Objects != nil {
		t.Errorf("%+v", rep)
	}
	if again := r.pipes[1].polls.Load(); again != polls {
		t.Errorf("its transport was looked at %d times", again-polls)
	}
}

// A node that is closed is not closed again, by whatever name: its doorbell lies in memory that goes away.
func TestClosedTwice(t *testing.T) {
	for name, again := range map[string]func(n *Node){
		"Close": func(n *Node) { n.Close(0, "") },
		"Crash": (*Node).Crash,
		"Quit":  (*Node).Quit,
	} {
		bell := &countedBell{Doorbell: doorbell.NewChan()}
		n := New(Config{Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}})
		n.Start(bell, &sink{})
		n.Crash()
		if rings := bell.rings.Load(); rings == 0 {
			t.Error("it was not rung")
		}
		bell.rings.Store(0)
		if again(n); bell.rings.Load() != 0 {
			t.Errorf("%s after Crash rings", name)
		}
	}
}

// Once a node has returned it has done so, and peers that have returned or gone are shown as such, with the reason.
func TestReturns(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[0]
	r.untilServed(0, transport.Idle)
	n.Assist()
	if _, ok, err := n.TryReceive(r.ports[0], 1, nil); ok || err != nil {
		t.Errorf("nothing has come: %t, %v", ok, err)
	}
	n.Returned(1)
	if d, err := n.AwaitDeparture(t.Context(), &Deaths{}); err != nil || d.Rank != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	why := n.Peer(1).Left()
	if why == nil || n.Peer(1).Gone() != nil || n.Departures() != 1 {
		t.Errorf("%v, %v, %d have departed", why, n.Peer(1).Gone(), n.Departures())
	}
	if rank, why := n.Departed(0); rank != 1 || why == nil {
		t.Errorf("%d, %v", rank, why)
	}
	if rank, why := n.Departed(1); rank != 0 || why != nil {
		t.Errorf("%d, %v", rank, why)
	}
	rings := r.bells[0].rings.Load()
	if n.Return(); r.bells[0].rings.Load() == rings {
		t.Error("its service does not hear of it")
	}
	if !n.Closing() || n.Leaving() {
		t.Error("it has not returned, or left")
	}
	if why := n.Peer(1).Gone(); !errors.Is(why, failure.ErrClosed) {
		t.Errorf("%v", why)
	}
	if again := n.Return(); again != nil {
		t.Errorf("it told %v again", again)
	}
}

// A rank that is gone sends nothing more: a receive that does not wait says so.
func TestGoneSendsNothing(t *testing.T) {
	r := newRig(t, Waiting{})
	r.nodes[0].Down(1, errors.New("it has ended"), false)
	var gone *failure.PeerError
	if _, ok, err := r.nodes[0].TryReceive(r.ports[0], 1, nil); ok || !errors.As(err, &gone) || gone.Rank != 1 {
		t.Errorf("%t, %v", ok, err)
	}
}
