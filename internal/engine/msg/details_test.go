package msg

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
)

// Two configurations are alike only if all is the same, and neither has lists.
func TestAlike(t *testing.T) {
	base := Config{RecvBuffer: 1, SendBuffer: 2, MaxMessage: 3, Flow: 1, Service: true}
	if same := base; !base.alike(&same) {
		t.Error("the same configuration is another one")
	}
	for what, change := range map[string]func(c *Config){
		"receive buffer": func(c *Config) { c.RecvBuffer++ },
		"send buffer":    func(c *Config) { c.SendBuffer++ },
		"messages":       func(c *Config) { c.MaxMessage++ },
		"flow control":   func(c *Config) { c.Flow++ },
		"service":        func(c *Config) { c.Service = false },
		"sources":        func(c *Config) { c.Sources = []int{1} },
		"destinations":   func(c *Config) { c.Destinations = []int{1} },
	} {
		other := base
		if change(&other); base.alike(&other) || other.alike(&base) {
			t.Errorf("a configuration with other %s is the same", what)
		}
	}
}

// Each single thing that is under way keeps a closed channel from being put away.
func TestUnderWay(t *testing.T) {
	for what, begin := range map[string]func(p *Port, d *pair){
		"nothing":          func(*Port, *pair) {},
		"not acknowledged": func(_ *Port, d *pair) { d.next++ },
		"a send":           func(_ *Port, d *pair) { op := new(Op); d.waiting.Push(&op.link, op) },
		"a flush":          func(_ *Port, d *pair) { d.flushes = append(d.flushes, flush{}) },
		"half a message":   func(_ *Port, d *pair) { d.partial = new(Block) },
		"half of it, into": func(_ *Port, d *pair) { d.into = new(Op) },
		"refused":          func(_ *Port, d *pair) { d.flow++ },
		"a refused sender": func(_ *Port, d *pair) { d.standing++ },
		"frozen":           func(p *Port, _ *pair) { p.freezing.frozen = true },
		"freezing":         func(p *Port, _ *pair) { p.freezing.op = new(Op) },
		"to send":          func(p *Port, _ *pair) { p.send.used++ },
		"received":         func(p *Port, _ *pair) { p.recv.used++ },
		"offered":          func(p *Port, _ *pair) { p.offered = append(p.offered, new(Op)) },
		"owed":             func(p *Port, d *pair) { p.owed = append(p.owed, d) },
		"a long message":   func(p *Port, _ *pair) { op := &Op{port: p}; p.layer.sends.Push(&op.link, op) },
		"of another port":  func(p *Port, _ *pair) { op := new(Op); p.layer.sends.Push(&op.link, op) },
	} {
		p := newRig(t, 2).open(Config{})
		begin(p, p.pair(1))
		if want := what != "nothing" && what != "of another port"; p.underWay() != want {
			t.Errorf("%s: under way %v", what, !want)
		}
	}
}

// A message that was reserved for a rank that has gone meanwhile is given back.
func TestCommitToTheGone(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	b := p.Reserve(1, 100)
	if b == nil || p.send.used == 0 {
		t.Fatal("no room")
	}
	r.layer.Down(1, &failure.PeerError{Rank: 1})
	if p.Commit(1, b); p.send.used != 0 || p.Reserve(1, 100) != nil {
		t.Errorf("%d bytes are kept for a rank that has gone", p.send.used)
	}
}

// What a rank that left in good order had not accepted is told, once, and not of a rank that has died, or on a channel
// of a service.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		clean, service, accepted bool
		want                     []Backlog
	}{
		{true, false, false, []Backlog{{Channel: 1, Rank: 1, Messages: 2, Left: true}}},
		{true, false, true, nil}, {false, false, false, nil}, {true, true, false, nil},
	} {
		r := newRig(t, 2)
		p := r.open(Config{Service: c.service})
		for range 2 {
			if !p.Give(1, []byte("message")) {
				t.Fatal("no room")
			}
		}
		r.take(1)
		if c.accepted {
			r.says(1, wire.Ack{Channel: 1, Ack: 2}.Append(nil))
		}
		r.layer.Down(1, &failure.PeerError{Rank: 1, Cause: errors.New("gone"), Clean: c.clean})
		if got := r.layer.Backlog(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A long message that had come when its receive was given up is kept for the next receive, which asks its sender for
// nothing.
func TestKeptForTheNext(t *testing.T) {
	for _, came := range []int{MaxEager, MaxEager + 1} {
		r := newRig(t, 2)
		p := r.open(Config{})
		r.announce(0, 7)
		fetch := func() *Op {
			op := &Op{Kind: Recv, Peer: 1}
			if p.Start(op); op.State != Offered {
				t.Fatalf("%+v", op)
			}
			op.Buf = make([]byte, op.Offer.Total)
			p.Fetch(op)
			return op
		}
		first := fetch()
		if asked := r.take(1); len(asked) == 0 || wire.Type(asked[len(asked)-1][0]) != wire.TypeFetch {
			t.Errorf("the sender is asked %d times", len(asked))
		}
		r.says(1, append(wire.Piece{Token: 7}.Append(nil), slices.Repeat([]byte{9}, came)...))
		if !p.Cancel(first) {
			t.Fatal("it is over")
		}
		again := fetch()
		asked := len(r.take(1)) > 0
		if whole := came == again.Offer.Total; asked == whole {
			t.Errorf("%d bytes had come, and the sender is asked again: %v", came, asked)
		} else if !whole {
			continue
		}
		r.says(1, wire.Settled{Status: wire.StatusOK, Token: 7}.Append(nil))
		if again.State != Done || again.Err != nil || again.Buf[0] != 9 || again.Buf[came-1] != 9 {
			t.Errorf("the next receive: %v, %v", again.State, again.Err)
		}
	}
}

// A long message has the number of its announcement, and is counted where its receiver reads it.
func TestLongIsCounted(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	for i := range uint32(3) {
		op := &Op{Kind: Send, Peer: 1, Buf: make([]byte, MaxEager+1)}
		if p.Start(op); op.Seq != i {
			t.Errorf("announcement %d has number %d", i, op.Seq)
		}
	}
	r.announce(0, 7)
	op := &Op{Kind: Recv, Peer: 1}
	p.Start(op)
	op.Buf = make([]byte, op.Offer.Total)
	if p.Fetched(op); r.queues[1].Counts.ReceivedLong != MaxEager+1 {
		t.Errorf("%d bytes are counted", r.queues[1].Counts.ReceivedLong)
	}
}

// A sender that is told to go on counts that, as its receiver does, and only when it was refused.
func TestResumedIsCounted(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	if !p.Give(1, []byte("message")) {
		t.Fatal("no room")
	}
	r.take(1)
	went := wire.Go{Channel: 1}.Append(nil)
	r.says(1, went)
	r.says(1, wire.Nack{Channel: 1, WillGo: true}.Append(nil))
	if again := r.says(1, went); len(again) != 1 || !strings.HasPrefix(again[0], "DATA") {
		t.Errorf("it is told to go on, and sends %q", again)
	}
	if n := r.queues[1].Counts.Sent.Resumed; n != 1 || r.layer.Stats.Dropped != 1 {
		t.Errorf("%d times resumed, %d dropped", n, r.layer.Stats.Dropped)
	}
}

// What a freeze waits for is among what is unfinished.
func TestFreezeIsUnfinished(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	p.pair(1)
	if p.Start(&Op{Kind: Freeze, Peer: Any}); !slices.ContainsFunc(r.layer.Unfinished(), func(line string) bool {
		return strings.HasPrefix(line, "channel 1: a freeze waits for")
	}) {
		t.Errorf("%q", r.layer.Unfinished())
	}
}
