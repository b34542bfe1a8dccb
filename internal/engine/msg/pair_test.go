package msg

import (
	"slices"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// consistent checks that lists and states say the same.
func (l *Layer) consistent(t *testing.T) {
	t.Helper()
	for _, p := range l.ports {
		promised := 0
		for rank, d := range p.pairs {
			if (d.flow == backingOff) != slices.Contains(l.waiting, d) {
				t.Errorf("rank %d: flow %d, and %d pairs are backing off", rank, d.flow, len(l.waiting))
			}
			if d.standing.isOwed() != slices.Contains(p.owed, d) {
				t.Errorf("rank %d: standing %d, and %d senders are owed a GO", rank, d.standing, len(p.owed))
			}
			if !d.standing.waits() && d.room != 0 || d.standing.isOwed() && d.room == 0 {
				t.Errorf("rank %d: standing %d, and room for it is %d", rank, d.standing, d.room)
			}
			if d.standing == called {
				promised += d.room
			}
		}
		if promised != p.promised {
			t.Errorf("%d bytes are promised, and counted as %d", promised, p.promised)
		}
	}
}

// Each event changes the flow to a peer as the table says, and what was refused is sent again where it says so.
func TestFlow(t *testing.T) {
	nack := func(will bool) []byte { return wire.Nack{WillGo: will, Channel: 1}.Append(nil) }
	events := map[string]func(r *rig, p *Port){
		"nack":       func(r *rig, _ *Port) { r.recv(nack(false)) },
		"nack, go":   func(r *rig, _ *Port) { r.recv(nack(true)) },
		"go":         func(r *rig, _ *Port) { r.recv(wire.Go{Channel: 1}.Append(nil)) },
		"time":       func(r *rig, _ *Port) { r.layer.Advance(monotime.Time(1).Add(time.Second)) },
		"ack":        func(r *rig, _ *Port) { r.recv(wire.Ack{Channel: 1, Ack: 1}.Append(nil)) },
		"frozen":     func(_ *rig, p *Port) { p.Start(&Op{Kind: Freeze}) },
		"thawed":     func(_ *rig, p *Port) { _ = p.Thaw() },
		"peer, gone": func(r *rig, _ *Port) { r.layer.Down(1, &failure.PeerError{Rank: 1}) },
	}
	for _, c := range []struct {
		events []string
		flow   flow
		again  int // messages sent again by the last event
	}{
		{[]string{"go"}, flowing, 0},
		{[]string{"nack, go"}, held, 0},
		{[]string{"nack, go", "go"}, held, 1},
		{[]string{"nack, go", "go", "ack"}, flowing, 0},
		{[]string{"nack, go", "time"}, held, 0},
		{[]string{"nack, go", "frozen"}, held, 0},
		{[]string{"nack, go", "frozen", "thawed"}, held, 0},
		{[]string{"nack, go", "frozen", "go"}, due, 0},
		{[]string{"nack, go", "frozen", "go", "ack"}, flowing, 0},
		{[]string{"nack, go", "frozen", "go", "thawed"}, held, 1},
		{[]string{"nack"}, backingOff, 0},
		{[]string{"nack", "time"}, held, 1},
		{[]string{"nack", "nack"}, backingOff, 0},
		{[]string{"nack", "nack, go"}, held, 0},
		{[]string{"nack", "nack, go", "time"}, held, 0},
		{[]string{"nack", "go"}, held, 1},
		{[]string{"nack", "go", "time"}, held, 0},
		{[]string{"nack", "ack"}, flowing, 0},
		{[]string{"nack", "frozen"}, due, 0},
		{[]string{"nack", "frozen", "time"}, due, 0},
		{[]string{"nack", "frozen", "thawed"}, held, 1},
		{[]string{"frozen", "nack"}, due, 0},
		{[]string{"frozen", "nack", "nack, go"}, held, 0},
		{[]string{"nack", "peer, gone"}, flowing, 0},
	} {
		r := newRig(t, 2)
		p := r.open(Config{})
		if !p.Give(1, []byte("refused")) {
			t.Fatal("no room")
		}
		for _, e := range c.events {
			r.take(1)
			p.layer.Stats.Resent = 0
			events[e](r, p)
			r.layer.consistent(t)
		}
		if d := p.pair(1); d.flow != c.flow || p.layer.Stats.Resent != uint64(c.again) {
			t.Errorf("%q: flow %d, %d sent again; want %d, %d", c.events, d.flow, p.layer.Stats.Resent, c.flow, c.again)
		}
	}
}

// recv delivers a frame of rank 1.
func (r *rig) recv(frame []byte) {
	if err := r.layer.Recv(1, 1, frame); err != nil {
		r.t.Fatal(err)
	}
}
