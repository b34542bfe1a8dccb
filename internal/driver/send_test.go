package driver

import (
	"context"
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/monotime"
	"weft/internal/timeline"
)

// A correspondent is a node on a stage and its peer, an engine with a port.
type correspondent struct {
	*testing.T
	n    *Node
	s    *stage
	p    *msg.Port
	peer *sink
}

func newCorrespondent(t *testing.T) *correspondent {
	n, s := newStaged(t)
	there := engine.Config{Rank: 1, Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}
	c := &correspondent{T: t, n: n, s: s, peer: &sink{peer: engine.New(there), bell: doorbell.NewChan()}}
	c.peer.peer.Connect(0, 0, engine.Path{MTU: sinkMTU})
	n.transports.all[0] = c.peer
	n.connect(1, Route{Transport: c.peer})
	var err error
	if c.p, err = n.Open(1, msg.Config{}); err == nil {
		c.peer.port, err = c.peer.peer.Msg.Open(1, msg.Config{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fill sends messages of a size until there is no room for another one, and returns how many.
func (c *correspondent) fill(size int) (sent int) {
	c.Helper()
	for ok := true; ok; sent++ {
		if sent > 1000 {
			c.Fatal("there is room without end")
		}
		ok = c.n.Send(c.p, 1, make([]byte, size), false)
	}
	return sent - 1
}

// take lets the peer's program receive all messages, and acknowledges them.
func (c *correspondent) take() (got [][]byte) {
	for {
		b, _ := c.peer.port.Next(0)
		if b == nil {
			c.peer.Send(nil)
			return got
		}
		got = append(got, append([]byte(nil), b.Data()...))
		c.peer.port.Release(b)
	}
}

// A message for which there is no room is not sent, and the peers that hold messages are asked to acknowledge them.
// SendMore tells before whether the next one will find room.
func TestSendsWithoutWaiting(t *testing.T) {
	c := newCorrespondent(t)
	n := c.n
	c.take()
	before := c.fill(100)
	c.take()
	n.progress()
	if !n.Settled(c.p) {
		t.Error("what was taken is not settled")
	}
	c.peer.held = true
	sent := 0
	for more := true; more; sent++ {
		var ok bool
		if ok, more = n.SendMore(c.p, 1, make([]byte, 100), 100); !ok {
			t.Fatal("there is no room where some was promised")
		}
	}
	if sent != before {
		t.Errorf("%d messages were promised room, and %d have some", sent, before)
	}
	for name, try := range map[string]func() bool{
		"Send":       func() bool { return n.Send(c.p, 1, make([]byte, 100), true) },
		"SendMore":   func() bool { ok, more := n.SendMore(c.p, 1, make([]byte, 100), 100); return ok || more },
		"TryRoom":    func() bool { return n.TryRoom(c.p, 1, 100) },
		"TryReserve": func() bool { return n.TryReserve(c.p, 1, 100) != nil },
		"Settled":    func() bool { return n.Settled(c.p) },
	} {
		c.s.slept = nil
		if try() || len(c.s.slept) != 1 {
			t.Errorf("%s: there is room, or it has not slept once: %v", name, c.s.slept)
		}
	}
	c.peer.held = false
	if got := c.take(); len(got) != sent {
		t.Errorf("%d messages have come, of %d", len(got), sent)
	}
	c.s.slept = nil
	for name, try := range map[string]func() bool{
		"Send":     func() bool { return n.Send(c.p, 1, nil, true) },
		"SendMore": func() bool { ok, _ := n.SendMore(c.p, 1, nil, 100); return ok },
		"TryRoom":  func() bool { return n.TryRoom(c.p, 1, 100) },
		"TryReserve": func() bool {
			b := n.TryReserve(c.p, 1, 100)
			if b != nil {
				n.Discard(c.p, 1, b, b.Use())
			}
			return b != nil
		},
	} {
		if !try() || c.s.slept != nil {
			t.Errorf("%s: there is no room, or it has slept: %v", name, c.s.slept)
		}
	}
}

// A draft is sent once, with as many bytes as are wanted, or given back once; from a closed port it is not sent.
func TestDrafts(t *testing.T) {
	c := newCorrespondent(t)
	n := c.n
	n.timeline = timeline.New(16, func() int64 { return 5 })
	b := n.Reserve(c.p, 1, 8)
	use := b.Use()
	copy(b.Data(), "12345678")
	if err := n.Commit(c.p, 1, b, use+1, 8); err != nil || c.take() != nil {
		t.Errorf("another use of the block is sent: %v", err)
	}
	if err := n.Commit(c.p, 1, b, use, 3); err != nil {
		t.Error(err)
	}
	if got := c.take(); len(got) != 1 || string(got[0]) != "123" {
		t.Errorf("%q", got)
	}
	sends := 0
	for _, e := range n.timeline.Part(0, 2, "host").Events {
		if e.Kind == timeline.Send && e.Size == 3 {
			sends++
		}
	}
	if sends != 1 {
		t.Errorf("%d sends of 3 bytes are noted", sends)
	}
	whole := n.Reserve(c.p, 1, 8)
	if err := n.Commit(c.p, 1, whole, whole.Use(), 8); err != nil {
		t.Error(err)
	}
	if got := c.take(); len(got) != 1 || len(got[0]) != 8 {
		t.Errorf("%q", got)
	}
	b = n.Reserve(c.p, 1, 8)
	use = b.Use()
	n.Discard(c.p, 1, b, use+1)
	if b.Use() != use {
		t.Error("another use of the block is given back")
	}
	if n.Discard(c.p, 1, b, use); b.Use() == use {
		t.Error("the block is not given back")
	}
	b = n.Reserve(c.p, 1, 8)
	use = b.Use()
	n.ClosePort(c.p)
	if err := n.Commit(c.p, 1, b, use, 8); err == nil || b.Use() == use || c.take() != nil {
		t.Errorf("a draft of a closed port: %v", err)
	}
}

// What is received in full is copied where it fits, and lent where it does not; a block is given back once. Where
// nothing is to come the error says why.
func TestTriesToReceive(t *testing.T) {
	c := newCorrespondent(t)
	n := c.n
	for _, text := range []string{"fits", "fits not"} {
		if !n.Send(c.p, 0, []byte(text), false) {
			t.Fatal("there is no room")
		}
	}
	buf := make([]byte, 4)
	if r, ok, err := n.TryReceive(c.p, msg.Any, buf); !ok || err != nil || r.Block != nil || string(buf[:r.N]) != "fits" {
		t.Errorf("%+v, %t, %v", r, ok, err)
	}
	r, ok, err := n.TryReceive(c.p, msg.Any, buf)
	if !ok || err != nil || r.Block == nil || string(r.Block.Data()) != "fits not" {
		t.Fatalf("%+v, %t, %v", r, ok, err)
	}
	use := r.Block.Use()
	if n.Release(c.p, r.Block, use+1); r.Block.Use() != use {
		t.Error("another use of the block is given back")
	}
	if n.Release(c.p, r.Block, use); r.Block.Use() == use {
		t.Error("the block is not given back")
	}
	n.Down(1, errors.New("it has ended"), false)
	var gone *failure.PeerError
	if _, ok, err := n.TryReceive(c.p, 1, nil); ok || !errors.As(err, &gone) {
		t.Errorf("%t, %v", ok, err)
	}
	n.ClosePort(c.p)
	if _, ok, err := n.TryReceive(c.p, msg.Any, nil); ok || !errors.Is(err, failure.ErrClosed) {
		t.Errorf("a closed port: %t, %v", ok, err)
	}
}

// A node that has quit receives nothing, not even what had arrived before.
func TestQuitReceivesNothing(t *testing.T) {
	c := newCorrespondent(t)
	if !c.n.Send(c.p, 0, []byte("arrived"), false) {
		t.Fatal("there is no room")
	}
	c.n.Quit()
	if r, ok, err := c.n.TryReceive(c.p, msg.Any, nil); ok || r.Block != nil || !errors.Is(err, failure.ErrClosed) {
		t.Errorf("%+v, %t, %v", r, ok, err)
	}
}

// An access that is given up may have happened, if it has been sent; a region that is looked for has not changed.
func TestOutcomeIsUnknown(t *testing.T) {
	c := newCorrespondent(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, want := range map[rma.Kind]bool{rma.Attach: false, rma.Pull: true, rma.Push: true} {
		call := NewCall()
		call.RMA = rma.Op{Kind: kind, Peer: 1, Name: "region", Buf: make([]byte, 8)}
		call.own()
		err := c.n.Memory(ended, call)
		var unknown *failure.UnknownOutcomeError
		if !errors.Is(err, context.Canceled) || errors.As(err, &unknown) != want {
			t.Errorf("kind %v: %v", kind, err)
		}
		call.Free()
	}
}

// A lock that is given back is the next rank's at once.
func TestFreedLockIsSent(t *testing.T) {
	c := newCorrespondent(t)
	c.s.event = func(monotime.Time) { c.n.Tick(false) }
	cfg := coord.Config{Name: "lock", Class: coord.QueueLock}
	o, err := c.n.Object(cfg)
	if err == nil {
		_, err = c.n.Coordinate(t.Context(), o, coord.Lock, 0)
	}
	there, err2 := c.peer.peer.Coord.Open(0, cfg)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	op := &coord.Op{Object: there, Kind: coord.Lock}
	c.peer.peer.Coord.Start(0, op)
	c.peer.Send(nil)
	c.n.Tick(false)
	if op.Done {
		t.Fatal("two ranks hold it")
	}
	if !c.n.Free(o) || !op.Done || op.Err != nil {
		t.Errorf("it has not gone to the rank that waits: %v", op.Err)
	}
}

// A node lists itself and the peers that are connected. It says how long packets to a peer are, and why a rank is gone.
func TestPeersAreTold(t *testing.T) {
	c := newCorrespondent(t)
	n := c.n
	n.mu.Lock()
	n.peer(7) // wanted, perhaps
	n.mu.Unlock()
	ranks := 0
	for _, p := range n.Peers() {
		ranks += 1 + 10*p.Rank
	}
	if ranks != 12 {
		t.Errorf("%d: not ranks 0 and 1", ranks)
	}
	if mtu, path := n.Path(1); mtu != n.eng.MTU(1) || path != c.peer.Path(1) {
		t.Errorf("%d bytes by %q", mtu, path)
	}
	if _, path := n.Path(7); path != "" {
		t.Errorf("%q leads to nobody", path)
	}
	if why := n.Gone(1); why != nil {
		t.Error(why)
	}
	n.Down(1, errors.New("it has ended"), false)
	if n.Gone(1) == nil || n.Gone(0) != nil {
		t.Errorf("%v, %v", n.Gone(1), n.Gone(0))
	}
}
