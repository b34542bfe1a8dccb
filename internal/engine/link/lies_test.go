package link

import (
	"testing"
	"time"

	"weft/internal/engine/wire"
)

// lie has end 0 receive a packet of end 1 with fields of our choice and a right tag,
// and counts the data packets that it sends then.
func (r *rig) lie(counter uint64, k wire.Kind, ack uint32, runs ...byte) (data []uint32) {
	r.t.Helper()
	from := r.ends[1]
	to := r.ends[0]
	pkt := (&wire.Link{
		Kind: k, Src: 1, Dst: 0, Job: job, Incarnation: life(1), Seq: to.conn.cfg.FirstSeq + 1000, Ack: ack,
		Counter: counter, Flags: to.conn.flags(),
	}).Append(nil)
	pkt = append(pkt, runs...)
	s := from.self.sender(0, life(0))
	copy(pkt[wire.LinkSize-wire.TagSize:], s.sign(counter, pkt, nil))
	if _, err := to.conn.Recv(r.now, pkt, Tagged, true); err != nil {
		r.t.Fatal(err)
	}
	return r.data()
}

// data returns the numbers of the data packets that end 0 sends now, counted from the first.
func (r *rig) data() (numbers []uint32) {
	var out [64]Packet
	for n := r.ends[0].conn.Output(r.now, out[:]); n > 0; n = r.ends[0].conn.Output(r.now, out[:]) {
		for _, p := range out[:n] {
			var f wire.Link
			if f.Parse(append(p.Header, p.Payload...)); f.Kind == wire.KindData {
				numbers = append(numbers, f.Seq-r.ends[0].conn.cfg.FirstSeq)
			}
		}
	}
	return numbers
}

// What a peer says counts only if it can be: an acknowledgement of what is on its
// way, and LOSE, STOP and SELECT about the oldest packet that is.
func TestLies(t *testing.T) {
	selects := Config{Selective: true}
	for _, first := range []uint32{0, ^uint32(0) - 2} { // numbers wrap between the packets of the second
		for _, c := range []struct {
			name    string
			cfg     Config
			after   uint32 // acknowledged before
			kind    wire.Kind
			ack     int
			runs    []byte
			again   []uint32 // packets that are sent again
			left    int      // packets that are not acknowledged then
			stopped bool
		}{
			{name: "all", kind: wire.KindAck, ack: 5, left: 0},
			{name: "one too many", kind: wire.KindAck, ack: 6, left: 5},
			{name: "before the first", kind: wire.KindAck, ack: -1, left: 5},
			{name: "far away", kind: wire.KindAck, ack: 1 << 31, left: 5},
			{name: "none", kind: wire.KindAck, ack: 0, left: 5},
			{name: "taken back", after: 3, kind: wire.KindAck, ack: 2, left: 2},
			{name: "LOSE", kind: wire.KindLose, ack: 0, left: 5, again: []uint32{0, 1, 2, 3, 4}},
			{name: "LOSE that acknowledges", kind: wire.KindLose, ack: 2, left: 3, again: []uint32{2, 3, 4}},
			{name: "LOSE of old", after: 3, kind: wire.KindLose, ack: 2, left: 2},
			{name: "LOSE of what was not sent", kind: wire.KindLose, ack: 6, left: 5},
			{name: "LOSE of nothing", kind: wire.KindLose, ack: 5, left: 0},
			{name: "STOP", kind: wire.KindStop, ack: 1, left: 4, stopped: true},
			{name: "STOP of old", after: 3, kind: wire.KindStop, ack: 2, left: 2},
			{name: "STOP of what was not sent", kind: wire.KindStop, ack: 6, left: 5},
			{name: "STOP of nothing", kind: wire.KindStop, ack: 5, left: 0},
			{name: "GO", kind: wire.KindGo, ack: 1, left: 4, again: []uint32{1, 2, 3, 4}},
			{name: "GO of old", after: 3, kind: wire.KindGo, ack: 2, left: 2},
			{name: "GO of what was not sent", kind: wire.KindGo, ack: 6, left: 5},
			{name: "PROBE", after: 3, kind: wire.KindProbe, ack: 2, left: 2},
			{name: "SELECT", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{2, 1}, left: 4, again: []uint32{1, 2}},
			{name: "SELECT of old", cfg: selects, after: 3, kind: wire.KindSelect, ack: 2, runs: []byte{2, 1}, left: 2},
			{name: "SELECT of the last", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{3, 1}, left: 4,
				again: []uint32{1, 2, 3}},
			{name: "SELECT of two", cfg: selects, kind: wire.KindSelect, ack: 0, runs: []byte{1, 1, 2, 1}, left: 5,
				again: []uint32{0, 2, 3}},
			{name: "SELECT of more", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{3, 2}, left: 4},
			{name: "SELECT of far more", cfg: selects, kind: wire.KindSelect, ack: 1,
				runs: []byte{1, 1, 255, 255, 255, 255, 15, 1},
				left: 4, again: []uint32{1}},
			{name: "SELECT that ends", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{1, 1, 1}, left: 4,
				again: []uint32{1}},
			{name: "SELECT without end", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{128}, left: 4},
			{name: "SELECT of none", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{0, 1}, left: 4},
			{name: "SELECT without any", cfg: selects, kind: wire.KindSelect, ack: 1, runs: []byte{1, 0}, left: 4},
			{name: "SELECT of what was not sent", cfg: selects, kind: wire.KindSelect, ack: 6, runs: []byte{1, 1}, left: 5},
		} {
			c.cfg.FirstSeq = first
			r := newRig(t, 1, c.cfg, faults{})
			conn := r.ends[0].conn
			for range 5 {
				head, payload := frame(0, 1)
				conn.Queue(r.now, head, payload)
			}
			if got := r.data(); len(got) != 5 {
				t.Fatalf("%s: sent %v", c.name, got)
			}
			r.now = r.now.Add(time.Millisecond)
			r.lie(1, wire.KindAck, first+c.after)
			again := r.lie(2, c.kind, first+uint32(c.ack), c.runs...)
			if left := int(conn.send.tail - conn.send.base); left != c.left || conn.Stopped() != c.stopped ||
				!same(again, c.again) {
				t.Errorf("%s, numbers from %d on: %d packets are not acknowledged, want %d; sent again %v, want %v; stopped %v",
					c.name, first, left, c.left, again, c.again, conn.Stopped())
			}
		}
	}
}

func same(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// What a stopped sender is told: it sends nothing, also if something is lost, until
// GO, or until an acknowledgement is news.
func TestStoppedSender(t *testing.T) {
	for name, again := range map[string]func(r *rig) []uint32{
		"GO":        func(r *rig) []uint32 { return r.lie(4, wire.KindGo, 1) },
		"news":      func(r *rig) []uint32 { return r.lie(4, wire.KindAck, 2) },
		"old":       func(r *rig) []uint32 { return r.lie(4, wire.KindAck, 1) },
		"another's": func(r *rig) []uint32 { return r.lie(4, wire.KindGo, 0) },
	} {
		r := newRig(t, 1, Config{Liveness: -1}, faults{})
		conn := r.ends[0].conn
		for range 3 {
			head, payload := frame(0, 1)
			conn.Queue(r.now, head, payload)
		}
		r.data()
		if got := r.lie(2, wire.KindStop, 1); len(got) != 0 || !conn.Stopped() {
			t.Fatalf("%s: told to stop it sends %v", name, got)
		}
		if got := r.lie(3, wire.KindLose, 1); len(got) != 0 {
			t.Errorf("%s: stopped, and told of a loss, it sends %v", name, got)
		}
		head, payload := frame(0, 1)
		conn.Queue(r.now, head, payload)
		want := map[string][]uint32{"GO": {1, 2, 3}, "news": {2, 3}}[name]
		if got := again(r); !same(got, want) {
			t.Errorf("%s: it sends %v, want %v", name, got, want)
		}
	}
}

// The window lets so many packets be on their way, whatever their numbers.
func TestReady(t *testing.T) {
	for _, first := range []uint32{0, ^uint32(0) - 2} {
		r := newRig(t, 1, Config{Window: 5, FirstSeq: first}, faults{})
		conn := r.ends[0].conn
		fill := func() (n int) {
			for ; conn.Ready(r.now); n++ {
				head, payload := frame(0, 1)
				conn.Queue(r.now, head, payload)
			}
			r.data()
			return n
		}
		if n := fill(); n != 5 {
			t.Errorf("%d packets in a window of 5", n)
		}
		r.lie(1, wire.KindAck, first+2)
		if n := fill(); n != 2 {
			t.Errorf("%d more when 2 are acknowledged", n)
		}
	}
}

// A counter is good once, and as long as it is not too old.
func TestReplayWindow(t *testing.T) {
	var w replayWindow
	w.widen()
	for _, c := range []struct {
		counter uint64
		fresh   bool
	}{
		{0, false}, {1, true}, {1, false}, {3, true}, {2, true}, {2, false}, {64, true}, {63, true}, {64, false}, {65, true},
		{2000, true}, {2000, false}, {2000 - replaySize, false}, {2000 - replaySize + 1, true},
		{2000 - replaySize + 1, false},
		{1999, true}, {2000 + replaySize, true}, {2000, false}, {2001, true}, {2001, false},
		{1 << 20, true}, {1<<20 - 1, true}, {1<<20 - replaySize + 1, true}, {1<<20 - replaySize, false}, {1<<20 + 64, true},
		{1 << 20, false}, {1<<20 + 1, true},
		{1<<20 + replaySize + 63, true}, {1<<20 + 64, false}, {1<<20 + 65, true},
	} {
		if got := w.fresh(c.counter); got != c.fresh {
			t.Errorf("counter %d when %d is the highest: fresh %v", c.counter, w.top, got)
		}
		if c.fresh {
			w.mark(c.counter)
		}
	}
}

// A counter that has been seen stays so until it is too old, wherever in a word of bits
// the highest one is.
func TestReplayWindowForgetsNothing(t *testing.T) {
	var w replayWindow
	w.widen()
	for top := uint64(1); top < 4*replaySize; top++ {
		if !w.fresh(top) {
			t.Fatalf("counter %d is not fresh", top)
		}
		w.mark(top)
		for c := top; c > 0 && top-c < replaySize; c-- {
			if w.fresh(c) {
				t.Fatalf("counter %d is fresh again when %d is the highest", c, top)
			}
		}
	}
}

// However far the highest counter jumps, the counters below it that have not been seen are fresh, and those that have
// been seen are not.
func TestReplayWindowJumps(t *testing.T) {
	const top = 5000
	for jump := uint64(1); jump < 6*replaySize; jump += 1 + jump/640 {
		var w replayWindow
		w.widen()
		for c := uint64(top - 3*replaySize); c <= top; c += 3 {
			w.mark(c)
		}
		seen := func(c uint64) bool { return c <= top && (top-c)%3 == 0 || c == top+jump }
		w.mark(top + jump)
		for c := top + jump - replaySize + 1; c <= top+jump; c++ {
			if w.fresh(c) == seen(c) {
				t.Fatalf("counter %d after a jump from %d to %d: fresh %v", c, top, top+jump, w.fresh(c))
			}
		}
	}
}

// A packet is kept if it is not too far ahead, and if there is room for its bytes.
func TestKeptBounds(t *testing.T) {
	type came struct {
		ahead, size uint32
		count       int
	}
	for name, c := range map[string]struct {
		cfg  Config
		came []came
		then string
	}{
		"a window": {Config{Window: 300}, []came{
			{1, 2, 1}, {299, 2, 2}, {300, 2, 2}, {1 << 30, 2, 2}, {299, 2, 2}, {2, 2, 3}}, "\x01\x02"},
		"a short window": {Config{Window: 3}, []came{{fewKept - 1, 2, 1}, {fewKept, 2, 1}, {fewKept - 1, 2, 1}}, ""},
		"a long path":    {Config{}, []came{{1, 2, 1}, {24<<10 - 1, 2, 2}, {24 << 10, 2, 2}, {24<<10 - 1, 2, 2}}, "\x01"},
	} {
		for _, first := range []uint32{0, ^uint32(0) - 2} {
			c.cfg.Selective = true
			c.cfg.FirstSeq = first
			r := newRig(t, 1, c.cfg, faults{})
			conn := r.ends[0].conn
			conn.send.selective = true
			for _, f := range c.came {
				conn.receive(r.now, first+f.ahead, append([]byte{1, byte(f.ahead)}, make([]byte, f.size-2)...), true)
				if conn.recv.kept.count != f.count {
					t.Errorf("%s: %d packets ahead of the one that is missing: %d are kept, want %d", name, f.ahead,
						conn.recv.kept.count, f.count)
				}
			}
			if conn.counts.Received.Resent != 1 {
				t.Errorf("%s: %d repeats", name, conn.counts.Received.Resent)
			}
			if conn.receive(r.now, first, []byte{1, 0}, true) == nil {
				t.Fatalf("%s: the missing packet was not taken", name)
			}
			var got []byte
			for f := conn.Kept(r.now, true); f != nil; f = conn.Kept(r.now, true) {
				got = append(got, f[1])
			}
			if string(got) != c.then {
				t.Errorf("%s: then come %v", name, got)
			}
		}
	}
}

// Behind a missing packet so many bytes are kept as a window on a long path holds, and 256 packets whatever they hold.
func TestKeptBytes(t *testing.T) {
	for size, most := range map[int]int{1 << 10: 4 << 10, 64 << 10: fewKept} {
		r := newRig(t, 1, Config{Selective: true, Window: 64, Reach: 4 << 20}, faults{})
		conn := r.ends[0].conn
		conn.send.selective = true
		frame := make([]byte, size)
		for i := range uint32(5 << 10) {
			conn.receive(r.now, 1+i, frame, true)
		}
		if k := &conn.recv.kept; k.count != min(most, 4<<10-1) {
			t.Errorf("%d packets of %d bytes are kept, want %d", k.count, size, most)
		}
	}
}

// SELECT says what is missing as far as a packet has room, and its reader sends again just that.
func TestSelectRuns(t *testing.T) {
	r := newRig(t, 1, Config{Selective: true, Window: 4 << 10, FixedWindow: true}, faults{})
	sender := r.ends[0].conn
	k := &r.ends[1].conn.recv.kept
	sender.send.selective = true
	var want []uint32
	for i := range uint32(3000) {
		head, payload := frame(0, 1)
		sender.Queue(r.now, head, payload)
		if i%7 == 0 || i > 2000 && i < 2900 {
			want = append(want, i)
		} else {
			k.put(i, 0, []byte{1})
		}
	}
	r.data()
	runs := k.runs(nil, 0)
	if len(runs) > wire.SelectSize {
		t.Fatalf("SELECT says %d bytes", len(runs))
	}
	r.lie(1, wire.KindSelect, 0, runs...)
	var got []uint32
	for i := range uint32(3000) {
		if sender.slot(i).sends > 1 {
			got = append(got, i)
		}
	}
	if len(got) < 120 || !same(got, want[:len(got)]) {
		t.Errorf("%d packets are sent again: %v, want %v", len(got), got, want)
	}
}

// What waits to be sent for the first time cannot have been received.
func TestAcknowledgedBeforeSent(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	conn := r.ends[0].conn
	for range 5 {
		head, payload := frame(0, 1)
		conn.Queue(r.now, head, payload)
	}
	var out [3]Packet
	conn.Output(r.now, out[:])
	if got := r.lie(1, wire.KindAck, 4); conn.send.base != 0 || !same(got, []uint32{3, 4}) {
		t.Errorf("an acknowledgement of 4 when 3 have been sent: %v are sent, the oldest on its way is %d", got,
			conn.send.base)
	}
}
