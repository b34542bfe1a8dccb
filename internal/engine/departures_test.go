package engine

import (
	"testing"

	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
)

// A rank can receive from a peer before it knows its own path there. If its program returns, or it leaves, at
// that moment, it still tells that peer what it has accepted, and only then that it has gone: the peer would
// report messages as not delivered that have been received.
func TestEndBeforePathIsKnown(t *testing.T) {
	for name, end := range map[string]func(*Engine) bool{
		"return": func(e *Engine) bool { told := e.Return(); return len(told) == 1 && told[0] == 0 },
		"leave":  func(e *Engine) bool { e.Leave(""); return !e.Idle() },
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{t: t, now: 1}
			for rank := range 2 {
				c.engines = append(c.engines, New(Config{
					Rank: rank, Size: 2, Job: 1, Secret: make([]byte, 32), Incarnation: 1, Rand: func() uint64 { return 1 },
				}))
			}
			sender := c.engines[0]
			receiver := c.engines[1]
			from := c.open(0, msg.Config{})
			to := c.open(1, msg.Config{})
			sender.Connect(c.now, 1, Path{MTU: 4096})
			if !from.Give(1, []byte("hello")) {
				t.Fatal("there is no room")
			}
			c.settle()
			b, _ := to.Next(msg.Any)
			if b == nil {
				t.Fatal("the message has not arrived")
			}
			to.Release(b)
			if !end(receiver) {
				t.Error("the peer will not be told")
			}
			receiver.Connect(c.now, 0, Path{MTU: 4096})
			c.settle()
			if left := sender.Msg.Backlog(); len(left) != 0 {
				t.Errorf("not delivered: %+v", left)
			}
			if len(sender.Departures()) != 1 {
				t.Error("the sender does not know that the receiver has gone")
			}
		})
	}
}

// What a rank has accepted is acknowledged before it says that its program has returned, however many channels there
// are: a peer that has heard of the return takes no acknowledgements any more, and would report messages as not
// delivered.
func TestReturnFollowsAcknowledgements(t *testing.T) {
	c := newCluster(t, 2, 4096)
	sender := c.engines[0]
	receiver := c.engines[1]
	const channels = 40
	for channel := range uint16(channels) {
		from, err := sender.Msg.Open(channel, msg.Config{})
		to, err2 := receiver.Msg.Open(channel, msg.Config{})
		if err != nil || err2 != nil || !from.Give(1, []byte("hello")) {
			t.Fatal(err, err2)
		}
		c.settle()
		b, _ := to.Next(msg.Any)
		to.Release(b)
		to.Close()
	}
	receiver.Return()
	c.settle()
	if left := sender.Msg.Backlog(); len(left) != 0 || len(sender.Departures()) != 1 {
		t.Errorf("not delivered: %+v; departures: %+v", left, sender.Departures())
	}
}

// A rank whose program has returned has departed though a peer never opens a port for what it sent, on however many
// channels; what was sent can still be received.
func TestReturnIsNotHeldBackByMessages(t *testing.T) {
	for _, channels := range []uint16{1, wire.MaxOpen, wire.MaxOpen + 1} {
		c := newCluster(t, 2, 4096)
		sender := c.engines[0]
		receiver := c.engines[1]
		for channel := range channels {
			if from, err := sender.Msg.Open(channel, msg.Config{}); err != nil || !from.Give(1, []byte("hello")) {
				t.Fatal(err)
			}
		}
		sender.Return()
		c.settle()
		if len(receiver.Departures()) != 1 {
			t.Errorf("%d channels: the receiver does not know that the sender has gone", channels)
		}
		for channel := range channels {
			to, err := receiver.Msg.Open(channel, msg.Config{})
			if err != nil {
				t.Fatal(err)
			}
			c.settle()
			if b, _ := to.Next(0); b == nil {
				t.Errorf("%d channels: what came on channel %d is lost", channels, channel)
			}
		}
		if len(receiver.Departures()) != 1 || sender.Telling() {
			t.Errorf("%d channels: departures: %+v", channels, receiver.Departures())
		}
	}
}

// A rank that waits for a message from anyone on one channel learns that the last other rank has returned, though that
// rank's message on another channel may still come; and then, on that channel.
func TestReturnEndsReceivesByChannel(t *testing.T) {
	c := newCluster(t, 2, 4096)
	sender := c.engines[0]
	receiver := c.engines[1]
	receive := func(channel uint16) *msg.Op {
		port, err := receiver.Msg.Open(channel, msg.Config{})
		if err != nil {
			t.Fatal(err)
		}
		op := &msg.Op{Kind: msg.Recv, Peer: msg.Any, Buf: make([]byte, 10)}
		port.Start(op)
		return op
	}
	from, err := sender.Msg.Open(1, msg.Config{})
	if err != nil || !from.Give(1, []byte("hello")) {
		t.Fatal(err)
	}
	early := receive(2)
	sender.Return()
	c.settle()
	if early.Err == nil {
		t.Error("a receive on a channel on which nothing comes goes on")
	}
	if late := receive(3); late.Err == nil {
		t.Error("a receive on a channel that is opened later goes on")
	}
	hello := receive(1)
	c.settle()
	if hello.Err != nil || hello.State != msg.Done {
		t.Errorf("what came last: %v, %v", hello.State, hello.Err)
	}
	if sender.Telling() {
		t.Error("the sender has not told its end")
	}
}

// A receive from a rank that has returned ends on each channel on which nothing of the rank comes any more, on however
// many others something may still come. The notices grow with these channels, and not with their square.
func TestReturnEndsReceivesBesideManyChannels(t *testing.T) {
	for _, channels := range []uint16{wire.MaxOpen, wire.MaxOpen + 1, 5*wire.MaxOpen + 3} {
		c := newCluster(t, 2, 4096)
		sender := c.engines[0]
		receiver := c.engines[1]
		for channel := range channels {
			if from, err := sender.Msg.Open(2*channel, msg.Config{}); err != nil || !from.Give(1, []byte("hello")) {
				t.Fatal(err)
			}
		}
		sender.Return()
		c.settle()
		before := sender.Stats().Sent.Packets
		receive := func(channel uint16) error {
			port, err := receiver.Msg.Open(channel, msg.Config{})
			if err != nil {
				t.Fatal(err)
			}
			c.settle()
			if hello, _ := port.Next(0); (hello != nil) != (channel%2 == 0) {
				t.Errorf("%d channels: on channel %d there is a message: %v", channels, channel, hello != nil)
			}
			again := &msg.Op{Kind: msg.Recv, Peer: 0, Buf: make([]byte, 10)}
			port.Start(again)
			c.settle()
			return again.Err
		}
		for channel := range 2 * channels {
			if receive(channel) == nil {
				t.Errorf("%d channels: on channel %d a receive waits for what cannot come", channels, channel)
			}
		}
		if sender.Telling() {
			t.Errorf("%d channels: the sender has not told its end", channels)
		}
		if sent := sender.Stats().Sent.Packets - before; sent > 4*uint64(channels) {
			t.Errorf("%d channels: %d packets", channels, sent)
		}
	}
}
