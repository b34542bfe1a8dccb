package link

import (
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// An acknowledgement leaves after a quarter of a window, or when the delay is over.
func TestAckDelay(t *testing.T) {
	r := newRig(t, 1, Config{Window: 16, AckDelay: time.Millisecond}, faults{})
	conn := r.ends[0].conn
	acks := func() int {
		var out [8]Packet
		return conn.Output(r.now, out[:])
	}
	for i := range uint32(3) {
		conn.receive(r.now, i, []byte{1}, true)
		if acks() != 0 {
			t.Errorf("acknowledged at once after %d packets", i+1)
		}
	}
	conn.receive(r.now, 3, []byte{1}, true)
	if acks() != 1 {
		t.Error("not acknowledged after a quarter of the window")
	}
	conn.receive(r.now, 4, []byte{1}, true)
	if at := conn.Deadline(); at != r.now.Add(time.Millisecond) {
		t.Errorf("due in %v", at.Sub(r.now))
	}
	conn.Advance(r.now.Add(time.Millisecond - 1))
	if acks() != 0 {
		t.Error("acknowledged before the delay was over")
	}
	conn.Advance(r.now.Add(time.Millisecond))
	if acks() != 1 || !conn.Idle() {
		t.Error("not acknowledged when the delay was over")
	}
	conn.receive(r.now, 0, []byte{1}, true)
	if acks() != 1 {
		t.Error("a packet that comes again is not acknowledged again")
	}
}

// The timer follows RFC 6298, with the peer's delay on top, within its bounds; it
// doubles with every timeout, and begins anew with an acknowledgement that is news.
func TestTimer(t *testing.T) {
	const ms = time.Millisecond
	cfg := Config{RTOInitial: 100 * ms, RTOMin: 20 * ms, RTOMax: 500 * ms, AckDelay: ms, Liveness: -1}
	r := newRig(t, 1, cfg, faults{})
	conn := r.ends[0].conn
	counter := uint64(0)
	packet := func() {
		head, payload := frame(0, 1)
		conn.Queue(r.now, head, payload)
		r.data()
	}
	acked := func(rtt time.Duration) {
		counter++
		r.now = r.now.Add(rtt)
		r.lie(counter, wire.KindAck, conn.send.tail)
	}
	due := func(what string, want time.Duration) {
		t.Helper()
		if got := conn.Deadline().Sub(r.now); got != want {
			t.Errorf("%s: the timer is due in %v, want %v", what, got, want)
		}
	}
	packet()
	due("before anything has been measured", 100*ms)
	for _, want := range []time.Duration{200 * ms, 400 * ms, 500 * ms, 500 * ms} {
		r.now = conn.Deadline()
		conn.Advance(r.now - 1)
		if got := r.data(); len(got) != 0 {
			t.Errorf("%v are sent again before the timer runs out", got)
		}
		conn.Advance(r.now)
		if got := r.data(); len(got) != 1 {
			t.Errorf("%v are sent again", got)
		}
		due("after a timeout", want)
	}
	acked(10 * ms) // of a packet that was sent again: it tells nothing
	if conn.Deadline() != monotime.Never {
		t.Errorf("nothing is on its way, and the timer is due in %v", conn.Deadline().Sub(r.now))
	}
	packet()
	due("until a round trip has been measured", 500*ms)
	acked(40 * ms)
	packet()
	due("40 ms measured", (40+4*20+1)*ms)
	acked(24 * ms) // rttvar 20 + (16-20)/4 = 19, srtt 40 - 16/8 = 38
	packet()
	due("24 ms measured", (38+4*19+1)*ms)
	acked(54 * ms) // rttvar 19 + (16-19)/4 = 18.25, srtt 38 + 2 = 40
	packet()
	due("54 ms measured", (40+1)*ms+4*18250*time.Microsecond)
	for range 100 {
		acked(ms)
		packet()
	}
	due("the least", 20*ms)
	acked(10 * time.Second)
	packet()
	due("the most", 500*ms)
}

// A peer of which something is awaited is probed after a quarter of the liveness time, then after each
// sixteenth, and silent when it has said nothing for all of it.
func TestLiveness(t *testing.T) {
	r := newRig(t, 1, Config{Liveness: 4 * time.Second}, faults{})
	conn := r.ends[0].conn
	if conn.Deadline() != monotime.Never || conn.Silent() {
		t.Error("nothing is awaited, and it is called silent")
	}
	conn.Await(r.now, true)
	quiet := r.now
	wait := func() (probes int) {
		for !conn.Silent() {
			if r.now = conn.Deadline(); r.now > quiet.Add(time.Minute) {
				t.Fatal("never called silent")
			}
			conn.Advance(r.now)
			var out [4]Packet
			probes += conn.Output(r.now, out[:])
		}
		return probes
	}
	if probes := wait(); probes < 12 || probes > 13 || r.now != quiet.Add(4*time.Second) {
		t.Errorf("silent after %v and %d probes", r.now.Sub(quiet), probes)
	}
	r.lie(1, wire.KindAck, 0)
	if conn.Silent() {
		t.Error("it has been heard, and is called silent")
	}
	quiet = r.now
	if wait(); r.now != quiet.Add(4*time.Second) {
		t.Errorf("silent %v after it was heard", r.now.Sub(quiet))
	}
	conn.Await(r.now, false)
	if conn.Deadline() != monotime.Never || conn.Silent() {
		t.Error("nothing is awaited any more, and it is called silent")
	}
}

// The round trip and how much it varies are averages, as of [Jacobson88]; the first sample counts whole.
func TestSamples(t *testing.T) {
	c := newRig(t, 1, Config{RTOMin: time.Microsecond, AckDelay: 5 * time.Microsecond}, faults{}).ends[0].conn
	for _, s := range []struct{ trip, srtt, vary time.Duration }{{80, 80, 40}, {160, 90, 50}, {10, 80, 57}, {80, 80, 43}} {
		c.sample(s.trip * time.Microsecond)
		srtt := c.rto.srtt.Truncate(time.Microsecond)
		vary := c.rto.rttvar.Truncate(time.Microsecond)
		if srtt != s.srtt*time.Microsecond || vary != s.vary*time.Microsecond {
			t.Errorf("after %v: %v and %v, want %v and %v", s.trip, c.rto.srtt, c.rto.rttvar, s.srtt, s.vary)
		}
	}
	if want := c.rto.srtt + 4*c.rto.rttvar + 5*time.Microsecond; c.rto.value != want {
		t.Errorf("a timeout after %v, want %v", c.rto.value, want)
	}
}

// A packet that comes again is counted, and acknowledged at once.
func TestRepeatsAreCounted(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	c := r.ends[0].conn
	for range 3 {
		c.receive(r.now, 0, []byte{1}, true)
	}
	if got := c.counts.Received.Resent; got != 2 || !c.due[wire.KindAck] {
		t.Errorf("%d of 2 are counted; an acknowledgement is due: %v", got, c.due[wire.KindAck])
	}
}
