package msg

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
)

// frozen opens a port of rank 0 of three and freezes it.
func (r *rig) frozen(cfg Config) *Port {
	p := r.open(cfg)
	r.freeze(p)
	return p
}

// freeze freezes a port whose peers answer at once.
func (r *rig) freeze(p *Port) {
	op := &Op{Kind: Freeze, Peer: Any}
	p.Start(op)
	for _, rank := range sortedKeys(p.pairs) {
		for _, f := range r.take(rank) {
			if fence, err := wire.ParseFence(f); err == nil {
				answer := wire.FenceAck{Channel: fence.Channel, Number: fence.Number, Ack: p.pairs[rank].base, Room: 1 << 20}
				if err := r.layer.Recv(1, rank, answer.Append(nil)); err != nil {
					r.t.Fatal(err)
				}
			}
		}
	}
	for r.layer.Finished() != nil {
	}
	if op.State != Done || op.Err != nil {
		r.t.Fatalf("%+v", op)
	}
}

// busy returns the saved state of a port that holds messages in both directions, and one that was announced.
func busy(t testing.TB) []byte {
	d := newRig(t, 3)
	p := d.open(Config{})
	for i := range 5 {
		p.Give(1+i%2, bytes.Repeat([]byte{byte(i)}, 100*i))
		p.Start(&Op{Kind: Send, Peer: 2, Buf: make([]byte, MaxEager+1+i)})
	}
	for seq := range uint32(3) {
		for rank := 1; rank < 3; rank++ {
			data := wire.Data{Channel: 1, Seq: seq, Total: 10}
			if err := d.layer.Recv(1, rank, append(data.Append(nil), "ten bytes."...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.freeze(p)
	b, held, err := p.Save(nil)
	if err != nil || held.Sent != 10 || held.Received != 6 || held.ReceivedBytes != 60 || held.SentBytes != 1000 {
		t.Fatalf("%+v, %v", held, err)
	}
	return b
}

// TestStateComesBack: what is restored is what was saved, in another port too.
func TestStateComesBack(t *testing.T) {
	state := busy(t)
	p := newRig(t, 3).frozen(Config{})
	for range 2 { // the second time in the place of the first
		if _, err := p.Restore(state); err != nil {
			t.Fatal(err)
		}
		again, _, err := p.Save(nil)
		if err != nil || !bytes.Equal(again, state) {
			t.Fatalf("%v\n%x\n%x", err, state, again)
		}
	}
	if _, err := p.Restore(nil); err != nil || p.send.used != 0 || p.recv.used != 0 || p.unacked != 0 {
		t.Errorf("%v; of a port that is as if just opened %d and %d bytes are in use", err, p.send.used, p.recv.used)
	}
}

// TestSavedBeforeTheLastMessage: a receive from anyone learns that the last other rank has gone though the state is
// from a time when the rank's program had returned, and messages of it still came.
func TestSavedBeforeTheLastMessage(t *testing.T) {
	r := newRig(t, 2)
	p := r.frozen(Config{})
	why := &failure.PeerError{Rank: 1, Cause: errors.New("it has returned"), Clean: true}
	r.layer.Ending(1, why, Coming{Channels: []uint16{1}}, false)
	state, _, err := p.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.layer.Ending(1, why, Coming{Channels: []uint16{1}}, true)
	if _, err := p.Restore(state); err != nil {
		t.Fatal(err)
	}
	if err := p.Thaw(); err != nil {
		t.Fatal(err)
	}
	op := &Op{Kind: Recv, Peer: Any}
	p.Start(op)
	if op.Err != why {
		t.Errorf("%v: %v", op.State, op.Err)
	}
}

// TestRestoreRefuses: a state that cannot be right changes nothing, and the error says what is wrong with it.
func TestRestoreRefuses(t *testing.T) {
	state := busy(t)
	changed := func(at int, to byte) []byte {
		b := slices.Clone(state)
		b[at] = to
		return b
	}
	p := newRig(t, 3).frozen(Config{})
	if _, err := p.Restore(state); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why   string
		state []byte
	}{
		{"cut short", state[:len(state)-1]},
		{"left over", append(slices.Clone(state), 0)},
		{"there can be", changed(4, 4)},          // peers
		{"rank 3 of a job of 3", changed(8, 3)},  // the first of them
		{"not in order", changed(8, 2)},          // it again
		{"message of kind 7", changed(8+16, 7)},  // the first message to it
		{"there can be", changed(8+12+1, 2)},     // how many
		{"at most", changed(8+16+1+2, 17)},       // its length
		{"it is cut short", []byte{0, 0}},        // no more
		{"there can be", []byte{255, 0, 0, 255}}, // departures
	} {
		if _, err := p.Restore(c.state); !errors.Is(err, failure.ErrSaved) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q: %v", c.why, err)
		}
	}
	if again, _, err := p.Save(nil); err != nil || !bytes.Equal(again, state) {
		t.Errorf("what was refused has changed the port: %v", err)
	}

	small := newRig(t, 3).frozen(Config{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
	d := newRig(t, 3)
	big := d.open(Config{})
	for range 3 {
		big.Give(1, make([]byte, MaxEager))
	}
	d.freeze(big)
	state, _, err := big.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.Restore(state); !errors.Is(err, failure.ErrSaved) ||
		!strings.Contains(err.Error(), "98304 bytes of the send buffer, where 65536 are free") {
		t.Error(err)
	}
	if _, err := newRig(t, 3).open(Config{}).Restore(nil); !errors.Is(err, failure.ErrNotFrozen) {
		t.Error(err)
	}
	if _, _, err := newRig(t, 3).open(Config{}).Save(nil); !errors.Is(err, failure.ErrNotFrozen) {
		t.Error(err)
	}
}

// TestFullerThanTheBuffer: where receives from one rank were given up, a port may hold more than its receive buffer, by
// a message of each rank. It can be restored so.
func TestFullerThanTheBuffer(t *testing.T) {
	const ranks = 3
	for _, c := range []struct {
		messages int
		fits     bool
	}{{2, true}, {2 + ranks, true}, {2 + ranks + 1, false}} {
		state := order.AppendUint32(make([]byte, 2*4), uint32(c.messages)) // no departures, no peers
		for i := range c.messages {
			state = order.AppendUint32(state, uint32(i%ranks))
			state = order.AppendUint64(state, MaxEager)
			state = append(state, make([]byte, MaxEager)...)
		}
		p := newRig(t, ranks).frozen(Config{RecvBuffer: 2 * MaxEager})
		held, err := p.Restore(state)
		if c.fits && (err != nil || held.Received != c.messages) {
			t.Errorf("%d messages: %+v, %v", c.messages, held, err)
		}
		if !c.fits && (!errors.Is(err, failure.ErrSaved) ||
			!strings.Contains(err.Error(), "or 163840 with a message of each rank")) {
			t.Errorf("%d messages: %v", c.messages, err)
		}
	}
}

// FuzzState: whatever is taken for a state comes back as it was, but for what does not belong in
// one; nothing makes the port take more room than it has.
func FuzzState(f *testing.F) {
	f.Add(busy(f))
	f.Add([]byte{})
	f.Add(make([]byte, 12))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := newRig(t, 3).frozen(Config{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
		held, err := p.Restore(b)
		if err != nil {
			if !errors.Is(err, failure.ErrSaved) {
				t.Fatal(err)
			}
			return
		}
		if p.send.used > p.send.limit || p.recv.used > p.recv.limit+3*MaxEager {
			t.Errorf("%d and %d bytes are in use", p.send.used, p.recv.used)
		}
		_, again, err := p.Save(nil)
		if err != nil || again != held {
			t.Errorf("%+v, and saved again %+v, %v", held, again, err)
		}
		if err := p.Thaw(); err != nil {
			t.Fatal(err)
		}
	})
}
