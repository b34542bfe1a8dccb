package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/transport"
)

// What a call says when its context has ended names the operation, what it was for, and what this rank knows.
func TestDoing(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[1]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	lock, err := n.Object(coord.Config{Name: "lock", Class: coord.QueueLock})
	barrier, err2 := n.Object(coord.Config{Name: "barrier", Class: coord.Barrier, Members: []int{0, 1}})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	far := r.open(1, 5)
	if !n.Send(far, 0, []byte("is not accepted"), false) {
		t.Fatal("there is no room")
	}
	message := func(kind msg.Kind, peer, bytes int) func(c *Call) error {
		return func(c *Call) error {
			c.Msg.Kind = kind
			c.Msg.Peer = peer
			c.Msg.Buf = make([]byte, bytes)
			return n.Message(ended, far, c)
		}
	}
	memory := func(op rma.Op) func(c *Call) error {
		return func(c *Call) error {
			c.RMA = op
			c.own()
			return n.Memory(ended, c)
		}
	}
	const unaccepted = ": rank 0 has not accepted 1 messages"
	for _, c := range []struct {
		want  string
		begin func(c *Call) error
	}{
		{"receive on channel 5: canceled", message(msg.Recv, msg.Any, 0)},
		{"receive from rank 0 on channel 5: canceled", message(msg.Recv, 0, 0)},
		{"flush of channel 5: canceled" + unaccepted, message(msg.Flush, msg.Any, 0)},
		{"send of 1000000 bytes to rank 0 on channel 5: canceled: rank 0 has not accepted 2 messages",
			message(msg.Send, 0, 1000000)},
		{"wait for a message on channel 5: canceled", message(msg.Await, msg.Any, 0)},
		{`region "there" of rank 0: canceled: the rank has not said that it exposes it`,
			memory(rma.Op{Kind: rma.Attach, Peer: 0, Name: "there"})},
		{`lock "lock": canceled`, func(*Call) error { _, err := n.Coordinate(ended, lock, coord.Lock, 0); return err }},
		{`barrier "barrier", phase 1: canceled`, func(*Call) error {
			if _, err := n.Coordinate(ended, barrier, coord.Arrive, 0); err != nil {
				return err
			}
			_, err := n.Coordinate(ended, barrier, coord.Await, 1)
			return err
		}},
	} {
		call := NewCall()
		err := c.begin(call)
		var waited *failure.WaitError
		if !errors.As(err, &waited) {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		got := waited.Doing + ": canceled"
		if waited.Knows != "" {
			got += ": " + waited.Knows
		}
		if got != c.want || !errors.Is(err, context.Canceled) {
			t.Errorf("%s; want %s", got, c.want)
		}
	}
}

// Of the ranks that have not accepted messages of a channel some are named.
func TestBacklogIsShort(t *testing.T) {
	n := New(Config{Host: &clockwork{}, Engine: engine.Config{
		Size: 9, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 },
	}})
	n.Start(doorbell.NewChan(), &sink{})
	c := NewCall()
	var err error
	if c.port, err = n.Open(1, msg.Config{}); err != nil {
		t.Fatal(err)
	}
	c.Msg.Peer = msg.Any
	for to := 1; to < 9; to++ {
		if !n.Send(c.port, to, nil, false) {
			t.Fatal("there is no room")
		}
		n.mu.Lock()
		got := n.backlog(c)
		n.mu.Unlock()
		if named := strings.Count(got, "rank"); named != min(to, 4) || strings.Count(got, "…") != min(max(to-4, 0), 1) {
			t.Errorf("%d ranks: %s", to, got)
		}
	}
	c.Msg.Peer = 3
	n.mu.Lock()
	defer n.mu.Unlock()
	if got := n.backlog(c); got != "rank 3 has not accepted 1 messages" {
		t.Error(got)
	}
}

// A report lists the waits, but for those of libraries' services, and at most so many; and objects that are in use.
func TestReport(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[1]
	service, err := n.Open(2, msg.Config{Service: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "a", "c"} {
		if _, err := n.Object(coord.Config{Name: name, Class: coord.CentralLock}); err != nil {
			t.Fatal(err)
		}
	}
	n.mu.Lock()
	call := func(p *msg.Port, kind msg.Kind) {
		c := NewCall()
		c.port = p
		c.Msg.Kind = kind
		c.Msg.Peer = msg.Any
		n.waiting.calls = append(n.waiting.calls, c)
	}
	call(service, msg.Recv)
	call(service, msg.Flush)
	for range mostListed + 2 {
		call(r.ports[1], msg.Recv)
	}
	n.mu.Unlock()
	rep := n.Report()
	n.mu.Lock()
	n.waiting.calls = nil
	n.mu.Unlock()
	if len(rep.Waits) != mostListed || rep.More != 3 || rep.Waits[0].For != "flush" || rep.Waits[1].For != "receive" {
		t.Errorf("%d waits, and %d more: %+v", len(rep.Waits), rep.More, rep.Waits[:2])
	}
	if len(rep.Objects) != 3 {
		t.Errorf("objects %+v", rep.Objects)
	}
}

// A rank reports the locks whose home it is while they are in use, and no others.
func TestReportOfHomes(t *testing.T) {
	r := newRig(t, Waiting{})
	var locks []*coord.Object
	held := func(kind coord.Kind, o *coord.Object) {
		t.Helper()
		if _, err := r.nodes[0].Coordinate(t.Context(), o, kind, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 16 {
		o, err := r.nodes[0].Object(coord.Config{Name: fmt.Sprint("lock ", i), Class: coord.CentralLock})
		if err != nil {
			t.Fatal(err)
		}
		held(coord.Lock, o)
		locks = append(locks, o)
	}
	homes := r.nodes[1].Report().Objects
	if len(homes) < 2 || !homes[0].Home || len(homes[0].Holders) != 1 || homes[0].Holders[0] != 0 {
		t.Fatalf("%+v", homes)
	}
	last := homes[len(homes)-1].ID
	for _, o := range locks {
		if o.ID != last {
			held(coord.Unlock, o)
		}
	}
	r.until("the others are free", func() bool {
		left := r.nodes[1].Report().Objects
		return len(left) == 1 && left[0].ID == last
	})
}

// A notice comes at once if a message is there already, and else with the message, which rings for it.
func TestNotice(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[1]
	notice := make(chan struct{}, 1)
	expects := func() (c int) {
		r.look(1, func(n *Node) bool { c = n.duty.Asleep(); return true })
		return c
	}
	for range 2 { // the second takes the place of the first
		if n.Notify(r.ports[1], notice); expects() != 1 {
			t.Errorf("packets ring for %d", expects())
		}
	}
	r.untilServed(1, transport.Asleep)
	r.send(0, "first")
	<-notice
	r.until("nothing is expected", func() bool { return expects() == 0 })
	n.Notify(r.ports[1], notice)
	<-notice
	if n.Notify(r.ports[1], nil); expects() != 0 {
		t.Errorf("packets ring for %d", expects())
	}
	r.want(r.receive(t.Context(), 1, r.ports[1]), "first")
	n.Notify(r.ports[1], notice)
	if n.Notify(r.ports[1], nil); expects() != 0 || len(notice) != 0 {
		t.Errorf("packets ring for %d, and there is %d notice", expects(), len(notice))
	}
}

// A goroutine that polls memory where there is a network looks for packets: no other goroutine does.
func TestSpinTakesPackets(t *testing.T) {
	r := newRig(t, Waiting{Budget: long})
	r.look(1, func(n *Node) bool { n.transports.network = true; return true })
	spun := func() uint64 { return mem.Word(&r.nodes[1].stats.page.Node.Waits[counters.Memory].Count).Load() }
	if ok, err := r.nodes[1].Spin(t.Context(), func() bool { return true }); !ok || err != nil || spun() != 0 {
		t.Errorf("%t, %v, and %d waits", ok, err, spun())
	}
	polls := r.pipes[1].polls.Load()
	rounds := 0
	ok, err := r.nodes[1].Spin(t.Context(), func() bool {
		rounds++
		return r.pipes[1].polls.Load() > polls+100
	})
	if !ok || err != nil || rounds < 100 || spun() != 1 {
		t.Errorf("%t, %v after %d rounds, and %d waits", ok, err, rounds, spun())
	}
	r.look(1, func(n *Node) bool {
		if n.duty.Poller() != nil {
			t.Error("it still counts as polling")
		}
		return true
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := r.nodes[1].Spin(ended, func() bool { return false }); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("its context has ended: %t, %v", ok, err)
	}
	var word atomic.Uint64
	word.Store(3)
	for _, old := range []uint64{0, 3} {
		if got := r.nodes[1].Glance(&word, old); got != 3 {
			t.Errorf("from %d: %d", old, got)
		}
	}
}
