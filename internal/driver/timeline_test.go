package driver

import (
	"context"
	"sync/atomic"
	"testing"

	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// A recorded rig notes what its nodes do, by a clock of which each look takes 1 ns.
type recorded struct {
	*rig
	clock atomic.Int64
}

func newRecorded(t *testing.T) *recorded {
	r := &recorded{rig: newRig(t, Waiting{})}
	for at := range r.nodes {
		r.look(at, func(n *Node) bool {
			n.timeline = timeline.New(64, func() int64 { return r.clock.Add(1) })
			return true
		})
	}
	return r
}

// one returns the only event of a kind that a node has noted.
func (r *recorded) one(at int, kind timeline.Kind) (e timeline.Event) {
	r.Helper()
	found := 0
	r.look(at, func(n *Node) bool {
		for _, o := range n.timeline.Part(at, 2, "host").Events {
			if o.Kind == kind {
				found++
				e = o
			}
		}
		return true
	})
	if found != 1 {
		r.Errorf("node %d has noted %d events of kind %v", at, found, kind)
	}
	return e
}

// wants checks the event of a kind.
func (r *recorded) wants(at int, kind timeline.Kind, peer, size int, flags timeline.Flags) timeline.Event {
	r.Helper()
	e := r.one(at, kind)
	if e.Peer != int32(peer) || e.Size != uint64(size) || e.Flags != flags || e.End < e.Begin {
		r.Errorf("node %d: %+v, not %d bytes, peer %d, flags %d", at, e, size, peer, flags)
	}
	return e
}

// run runs an operation on the memory of the other node.
func (r *recorded) run(at int, op rma.Op) error {
	c := NewCall()
	defer c.Free()
	c.RMA = op
	c.RMA.Peer = 1 - at
	c.own()
	return r.nodes[at].Memory(r.Context(), c)
}

// A message, short or long, has the same number where it begins and where it ends.
func TestMessagesAreNoted(t *testing.T) {
	r := newRecorded(t)
	r.send(0, "short")
	r.want(r.receive(t.Context(), 1, r.ports[1]), "short")
	sent := r.wants(0, timeline.Send, 1, 5, 0)
	if got := r.wants(1, timeline.Receive, 0, 5, 0); got.ID != sent.ID || got.ID == 0 {
		t.Errorf("%+v, and %+v", sent, got)
	}
	r = newRecorded(t)
	done := make(chan error, 1)
	go func() {
		c := NewCall()
		c.Msg.Kind = msg.Send
		c.Msg.Peer = 1
		c.Msg.Buf = make([]byte, 3*run)
		done <- r.nodes[0].Message(t.Context(), r.ports[0], c)
	}()
	_, c, err := r.nodes[1].Receive(t.Context(), r.ports[1], msg.Any, make([]byte, 3*run))
	if err == nil {
		err = r.nodes[1].Fetch(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	sent = r.wants(0, timeline.Send, 1, 3*run, 0)
	if announced := r.wants(1, timeline.Receive, 0, 3*run, 0); announced.ID != 0 {
		t.Errorf("it is received before it is fetched: %+v", announced)
	}
	if got := r.wants(1, timeline.Fetch, 0, 3*run, 0); got.ID != sent.ID || got.ID == 0 {
		t.Errorf("%+v, and %+v", sent, got)
	}
}

// Access to memory is noted with its bytes, of an atomic operation 8. An access that was begun earlier ends when it
// has ended, and not when the program looks.
func TestAccessIsNoted(t *testing.T) {
	r := newRecorded(t)
	region, err := r.nodes[1].Expose("region", make([]byte, 64), 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []rma.Op{
		{Kind: rma.Attach, Name: "region"},
		{Kind: rma.Push, Region: region.ID, Key: region.Key, Buf: make([]byte, 16)},
		{Kind: rma.Atomic, Region: region.ID, Key: region.Key, Code: wire.CodeAdd, A: 1},
		{Kind: rma.Flush},
	} {
		if err := r.run(0, op); err != nil {
			t.Fatal(err)
		}
	}
	r.wants(0, timeline.Attach, 1, 0, 0)
	r.wants(0, timeline.Push, 1, 16, 0)
	r.wants(0, timeline.Atomic, 1, 8, 0)
	r.wants(0, timeline.Complete, 1, 0, 0)

	n := r.nodes[0]
	c := NewCall()
	c.RMA = rma.Op{Kind: rma.Pull, Peer: 1, Region: region.ID, Key: region.Key, Buf: make([]byte, 24)}
	c.own()
	n.Begin(c)
	r.until("it has ended", func() bool { return n.Ended(c) })
	const later = 1 << 20
	r.clock.Add(later)
	if err := n.Wait(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if e := r.wants(0, timeline.Pull, 1, 24, 0); e.End >= later {
		t.Errorf("it ended when it was waited for: %+v", e)
	}
	if err := r.run(0, rma.Op{Kind: rma.Attach, Peer: 1, Name: "region"}); err != nil {
		t.Fatal(err)
	}
	n.Quit()
	c = NewCall()
	c.RMA = rma.Op{Kind: rma.IPush, Peer: 1}
	c.own()
	n.Begin(c)
	r.clock.Add(later)
	if err := n.Wait(t.Context(), c); err == nil {
		t.Fatal("a node that has quit has pushed")
	}
	if e := r.wants(0, timeline.IPush, 1, 0, timeline.Failed); e.End-e.Begin >= later {
		t.Errorf("it ended when it was waited for: %+v", e)
	}
}

// Coordination is noted with the number of its object, also what took no packet, and what has failed.
func TestCoordinationIsNoted(t *testing.T) {
	r := newRecorded(t)
	n := r.nodes[0]
	o, err := n.Object(coord.Config{Name: "lock", Class: coord.QueueLock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Coordinate(t.Context(), o, coord.Lock, 0); err != nil {
		t.Fatal(err)
	}
	if e := r.wants(0, timeline.Lock, timeline.Nobody, 0, 0); e.ID != o.ID {
		t.Errorf("%+v", e)
	}
	if name := n.timeline.Part(0, 2, "host").Names[o.ID]; name != "lock" {
		t.Errorf("it has the name %q", name)
	}
	if !n.Free(o) {
		t.Fatal("it is not held")
	}
	if e := r.wants(0, timeline.Unlock, timeline.Nobody, 0, 0); e.ID != o.ID {
		t.Errorf("%+v", e)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	barrier, err := n.Object(coord.Config{Name: "barrier", Class: coord.Barrier, Members: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Coordinate(ended, barrier, coord.Pass, 0); err == nil {
		t.Fatal("it has passed alone")
	}
	if e := r.wants(0, timeline.Pass, timeline.Nobody, 1, timeline.Failed); e.ID != barrier.ID {
		t.Errorf("%+v", e)
	}
	if _, _, err := n.Receive(ended, r.ports[0], 1, nil); err == nil {
		t.Fatal("it has received")
	}
	r.wants(0, timeline.Receive, 1, 0, timeline.Failed)
}

// Packets of a network are noted, with how many they are, and those of other transports are not.
func TestPacketsAreNoted(t *testing.T) {
	for _, network := range []bool{false, true} {
		r := newRecorded(t)
		r.pipes[1].beats.Store(network)
		r.send(0, "short")
		r.want(r.receive(t.Context(), 1, r.ports[1]), "short")
		packets := 0
		bytes := uint64(0)
		r.look(1, func(n *Node) bool {
			for _, e := range n.timeline.Part(1, 2, "host").Events {
				if e.Kind == timeline.PacketsIn {
					packets += int(e.Count)
					bytes += e.Size
				}
			}
			return true
		})
		if (packets > 0 && bytes > 5) != network {
			t.Errorf("a network: %t: %d packets, %d bytes", network, packets, bytes)
		}
	}
	n, _ := newClocked(Waiting{})
	n.timeline = timeline.New(8, func() int64 { return 1 })
	n.scratch.out[0] = transport.Out{Header: make([]byte, 10), Payload: make([]byte, 20), Again: 1}
	n.scratch.out[1] = transport.Out{Header: make([]byte, 5)}
	network := &Peer{Rank: 1, Transport: &sink{beats: true}}
	n.noteOut(&Peer{Rank: 1, Transport: &sink{}}, 2)
	n.noteOut(network, 0)
	n.noteOut(network, 2)
	all := n.timeline.Part(0, 2, "host").Events
	if len(all) != 1 || all[0].Count != 2 || all[0].Size != 35 || all[0].ID != 1 || all[0].Peer != 1 {
		t.Errorf("%+v", all)
	}
}

// A transport is looked at once more only if there may be more.
func TestLooksOnce(t *testing.T) {
	r := newRig(t, Waiting{})
	r.untilServed(1, transport.Idle)
	r.send(0, "not urgent")
	r.look(1, func(n *Node) bool {
		before := r.pipes[1].polls.Load()
		if n.progress(); r.pipes[1].polls.Load() != before+1 {
			t.Errorf("it was looked at %d times for one packet", r.pipes[1].polls.Load()-before)
		}
		return true
	})
	r.want(r.receive(t.Context(), 1, r.ports[1]), "not urgent")
}
