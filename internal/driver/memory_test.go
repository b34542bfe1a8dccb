package driver

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
	"weft/internal/transport"
)

// A goroutine that looks at memory after pauses returns when the condition holds, with the end of its context, or with
// that of the node.
func TestLook(t *testing.T) {
	n := New(Config{Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}})
	n.Start(doorbell.NewChan(), &sink{bell: doorbell.NewChan(), beats: true})
	defer n.Close(0, "")
	looks := 0
	if err := n.Look(t.Context(), func() bool { looks++; return looks == 3 }); err != nil || looks != 3 {
		t.Errorf("%v, after %d looks", err, looks)
	}
	if w := n.stats.page.Node.Waits[counters.Memory]; w.Count != 1 || w.Slept != 1 || w.Polled != 0 || w.Asleep == 0 {
		t.Errorf("%+v", w)
	}
	asleep := func() int {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.duty.Asleep()
	}
	ended, cancel := context.WithCancel(t.Context())
	if err := n.Look(ended, func() bool {
		if asleep() != 1 {
			t.Errorf("packets wake the service for %d goroutines", asleep())
		}
		cancel()
		return false
	}); !errors.Is(err, context.Canceled) || asleep() != 0 {
		t.Errorf("%v, and packets still wake the service for %d goroutines", err, asleep())
	}
	end := func() bool { n.life.closing.Store(true); return false }
	if err := n.Look(t.Context(), end); !errors.Is(err, failure.ErrClosed) {
		t.Error(err)
	}
}

// A packet that accesses memory wakes the goroutines that wait for memory to change. Other packets do not.
func TestAccessIsTold(t *testing.T) {
	n := New(Config{
		Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}, Host: &stage{at: 1},
	})
	tr := &narrow{in: make(chan []byte, 1)}
	n.Start(doorbell.NewChan(), tr)
	defer n.Crash()
	n.connect(1, Route{Transport: tr})
	if n.writes() != nil {
		t.Error("without a network no packet writes to memory")
	}
	n.transports.network = true
	r, err := n.Expose("r", make([]byte, 64), 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	written := n.writes()
	told := func() bool {
		n.Tick(false)
		select {
		case <-written:
			return true
		default:
			return false
		}
	}
	tr.in <- wire.AckReq{Channel: 1}.Append(nil)
	if told() || n.writes() != written {
		t.Error("a packet of a port has written to memory")
	}
	tr.in <- wire.Pull{Op: 1, Region: r.ID, Key: r.Key, N: 8}.Append(nil)
	if !told() || n.writes() == written {
		t.Error("an access is not told")
	}
}

// A place is read by the process's number, or where its memory is mapped, at its offset and in pieces. A process that
// has ended is gone.
func TestPlace(t *testing.T) {
	const size = 3<<20 + 5
	n, _ := newStaged(t)
	whole := make([]byte, size)
	for i := range whole {
		whole[i] = byte(i / 1021)
	}
	s := &sharing{mapping: transport.NewMapping(whole, false, nil)}
	n.connect(1, Route{Transport: s})
	got := make([]byte, size-100)
	if err := PlaceOf(whole).Read(n, 1, 100, got); err != nil || !bytes.Equal(got, whole[100:]) {
		t.Errorf("ordinary memory: %v", err)
	}
	clear(got)
	if err := (Place{Memory: 1, Offset: 60}).Read(n, 1, 40, got); err != nil || !bytes.Equal(got, whole[100:]) {
		t.Errorf("shared memory: %v", err)
	}
	if b := (Place{Memory: 1, Offset: 60}).Bytes(n, 1, 40, 10); len(b) != 10 || &b[0] != &whole[100] {
		t.Errorf("%d bytes", len(b))
	}
	if b := PlaceOf(whole).Bytes(n, 1, 0, 10); b != nil {
		t.Error("ordinary memory is mapped")
	}
	var gone *failure.PeerError
	if err := (Place{Process: 1 << 30, Address: 8}).Read(n, 1, 0, got[:8]); !errors.As(err, &gone) || gone.Rank != 1 {
		t.Errorf("no such process: %v", err)
	}
}

// A device is a transport by which peers reach regions, and which shares memory.
type device struct {
	sink
	log []string
}

func (d *device) Offer(uint32, uint64, []byte, bool) { d.log = append(d.log, "offer") }
func (d *device) Retract(uint32)                     { d.log = append(d.log, "retract") }
func (d *device) Memory() transport.Memory           { return deviceMemory{d: d} }

func (d *device) Reach(context.Context, int, uint32, uint64) transport.Window {
	d.log = append(d.log, "reach")
	return nil
}

type deviceMemory struct {
	transport.Memory
	d *device
}

func (m deviceMemory) Admit(uint32, uint64) { m.d.log = append(m.d.log, "admit") }
func (m deviceMemory) Mapped() uint64       { return 5 }

// A region is offered to devices unless it has a guard, and its memory to peers that may map it; both end with it.
func TestRegionIsOffered(t *testing.T) {
	n, _ := newStaged(t)
	d := &device{}
	n.transports.all[0] = d
	if n.updateMemory(); n.stats.page.Node.Mapped != 5 {
		t.Errorf("%d bytes are mapped", n.stats.page.Node.Mapped)
	}
	for _, c := range []struct {
		mem   uint32
		guard uint64
		want  []string
	}{
		{0, 0, []string{"offer", "retract"}}, {1, 0, []string{"offer", "admit", "retract"}},
		{1, 9, []string{"admit", "retract"}}, {0, 9, []string{"retract"}},
	} {
		d.log = nil
		r, err := n.Expose("r", mem.Aligned(64), c.mem, false, c.guard, nil)
		if err != nil {
			t.Fatal(err)
		}
		n.Latch(r, 16)
		if len(r.Latch) != 8 || &r.Latch[0] != &r.Bytes[16] || r.Self != 1 {
			t.Errorf("latch of %d bytes, this rank is %d", len(r.Latch), r.Self)
		}
		if n.Withdraw(r); !slices.Equal(d.log, c.want) {
			t.Errorf("memory %d, guard %d: %v, not %v", c.mem, c.guard, d.log, c.want)
		}
	}
	d.log = nil
	if (&Peer{Rank: 1, Transport: d}).Reach(t.Context(), rma.Found{}); !slices.Equal(d.log, []string{"reach"}) {
		t.Errorf("%v", d.log)
	}
}

// Departures are asked for once: of every rank when a goroutine waits for them.
func TestDeparturesAreAskedFor(t *testing.T) {
	for _, hosted := range []bool{true, false} {
		asked := make(chan int, 9)
		cfg := Config{
			Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }},
			Await:  func(rank int) { asked <- rank },
		}
		if hosted {
			cfg.Host = &stage{at: 1}
		}
		n := New(cfg)
		n.Start(doorbell.NewChan(), &sink{bell: doorbell.NewChan()})
		n.Down(1, errors.New("it has ended"), false)
		deaths := &Deaths{}
		if d, err := n.AwaitDeparture(t.Context(), deaths); err != nil || d.Rank != 1 {
			t.Errorf("%+v, %v", d, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := n.AwaitDeparture(ended, deaths); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if rank := <-asked; rank != every || len(asked) != 0 {
			t.Errorf("rank %d was asked for, and then %d more", rank, len(asked))
		}
		n.Crash()
	}
}

// A goroutine that waits for a departure is woken by it, and by the end of the node.
func TestDepartureIsAwaited(t *testing.T) {
	for name, end := range map[string]func(n *Node){
		"departure": func(n *Node) { n.Down(1, errors.New("it has ended"), false) },
		"end":       (*Node).Quit,
	} {
		r := newRig(t, Waiting{})
		n := r.nodes[0]
		done := make(chan error, 1)
		go func() {
			_, err := n.AwaitDeparture(t.Context(), &Deaths{})
			done <- err
		}()
		r.until("it waits", func() bool { return r.look(0, func(n *Node) bool { return n.departures.news != nil }) })
		if end(n); (<-done == nil) != (name == "departure") {
			t.Errorf("%s: another outcome", name)
		}
	}
}

// A wait for mail ends at once if a rank has departed that the caller does not know of.
func TestDepartureBeforeMail(t *testing.T) {
	n, _ := newStaged(t)
	n.Down(1, errors.New("it has ended"), false)
	c := NewCall()
	defer c.Free()
	c.RMA.Kind = rma.Attach
	c.RMA.Peer = 1
	if err := n.AwaitMail(t.Context(), c, 0); err != nil {
		t.Error(err)
	}
	if err := n.AwaitMail(t.Context(), c, 1); err == nil {
		t.Error("it has not waited")
	}
}

// A long message that is declined is received by the next. Of one that is accepted aside the sender hears that.
func TestOffers(t *testing.T) {
	n, _ := newStaged(t)
	p, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("long"), run)
	launch := func() *Call {
		c := NewCall()
		c.Msg.Kind = msg.Send
		c.Msg.Buf = want
		n.Launch(p, c)
		return c
	}
	got := make([]byte, len(want))
	sent := launch()
	for _, end := range []func(c *Call) error{
		func(c *Call) error { n.Decline(c); return nil },
		func(c *Call) error { return n.Fetch(t.Context(), c) },
	} {
		_, c, err := n.Receive(t.Context(), p, 0, got)
		if err != nil || c == nil || n.Ended(sent) {
			t.Fatal(c, err, n.Ended(sent))
		}
		if err := end(c); err != nil {
			t.Error(err)
		}
		c.Free()
	}
	if err := n.Wait(t.Context(), sent); err != nil || !n.Ended(sent) || !bytes.Equal(got, want) {
		t.Errorf("%v, or other bytes", err)
	}
	for name, end := range map[string]func(c *Call) error{
		"declined": func(c *Call) error { n.Decline(c); return nil },
		"fetched":  func(c *Call) error { c.Msg.Buf = got; return n.Fetch(t.Context(), c) },
	} {
		sent := launch()
		c, err := n.Accept(t.Context(), p, 0)
		if err == nil {
			err = end(c)
		}
		if sentErr := n.Wait(t.Context(), sent); err != nil || (sentErr != nil) != (name == "declined") {
			t.Errorf("%s: %v, %v", name, err, sentErr)
		}
	}
	ended, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := n.Accept(ended, p, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
