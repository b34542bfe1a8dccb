package link

import (
	"bytes"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

func TestPerfectNetwork(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	took := r.run(1000, 0)
	s := r.ends[0].conn.counts
	if s.Sent.Resent != 0 || s.Sent.Lost != 0 {
		t.Errorf("resent without a loss: %s", r)
	}
	if took > 50*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// Whatever the network does, every frame arrives once and in order.
func TestFaultyNetwork(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		r := newRig(t, seed, Config{Selective: seed%2 == 0},
			faults{lose: 0.2, repeat: 0.2, corrupt: 0.05, delay: 300 * time.Microsecond})
		r.run(150, 150)
		if r.ends[0].conn.counts.Sent.Resent == 0 {
			t.Errorf("nothing was resent: the network is not faulty: %s", r)
		}
	})
}

// Sequence numbers wrap.
func TestWrap(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		cfg := Config{Window: 16, FirstSeq: ^uint32(0) - uint32(seed)*7, Selective: seed%2 == 0}
		newRig(t, seed, cfg, faults{lose: 0.1, delay: time.Millisecond}).run(200, 200)
	})
}

// Small windows work too.
func TestWindows(t *testing.T) {
	for _, w := range []int{1, 2, 3, 5, 1024} {
		newRig(t, uint64(w), Config{Window: w}, faults{lose: 0.05}).run(200, 200)
		newRig(t, uint64(w), Config{Window: w, Selective: true}, faults{lose: 0.05}).run(1000, 1000)
	}
}

// A receiver without room stops its sender, which goes on when it is told to,
// also if that is lost.
func TestStopAndGo(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		r := newRig(t, seed, Config{Selective: seed%2 == 0}, faults{lose: 0.2})
		r.ends[0].todo = 3000
		for !r.done(3000, 0) {
			if !r.step() && !r.done(3000, 0) {
				t.Fatalf("stuck: %s", r)
			}
			e := r.ends[1]
			if was := e.room; r.rand.IntN(20) == 0 {
				if e.room = !e.room; !was {
					e.conn.RoomAgain(r.now)
				}
			}
		}
		if r.ends[1].conn.counts.Received.Refused == 0 {
			t.Errorf("never stopped: %s", r)
		}
	})
}

// A sender that was stopped probes: one packet each time, ever less often.
func TestPersistProbes(t *testing.T) {
	r := newRig(t, 1, Config{Liveness: -1}, faults{})
	r.ends[1].room = false
	r.ends[0].todo = 100
	for r.now < monotime.Time(10*time.Second) {
		r.step()
	}
	s := r.ends[0].conn.counts
	if probes := s.Sent.Lost; probes < 15 || probes > 60 {
		t.Errorf("%d probes in 10 s: %s", probes, r)
	}
	r.ends[1].room = true
	r.ends[1].conn.RoomAgain(r.now)
	for !r.done(100, 0) {
		if !r.step() {
			t.Fatalf("stuck: %s", r)
		}
	}
}

// One lost packet costs one LOSE and no timeout, if others follow it.
func TestLoseSavesTimeout(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	r.ends[0].todo = 10
	r.send(0)
	for i, f := range r.wire {
		if seqOf(f.pkt) == 3 {
			r.wire = append(r.wire[:i], r.wire[i+1:]...)
			break
		}
	}
	r.run(0, 0)
	for r.ends[1].got < 10 {
		if !r.step() {
			t.Fatalf("stuck: %s", r)
		}
	}
	a := r.ends[0].conn.counts
	b := r.ends[1].conn.counts
	if a.Sent.Lost != 0 || b.Received.Lost != 1 || a.Sent.Resent != 7 {
		t.Errorf("one loss among ten: %s", r)
	}
}

func TestSilenceIsNoticed(t *testing.T) {
	r := newRig(t, 1, Config{Liveness: time.Second}, faults{})
	r.run(10, 10)
	for _, e := range r.ends {
		e.conn.Await(r.now, true)
	}
	quiet := r.now
	for r.now < quiet.Add(5*time.Second) { // probes keep both alive
		r.step()
		if r.ends[0].conn.Silent() || r.ends[1].conn.Silent() {
			t.Fatalf("called silent after %v", r.now.Sub(quiet))
		}
	}
	r.net.lose = 1
	dead := r.now
	for !r.ends[0].conn.Silent() {
		if r.now > dead.Add(2*time.Second) || !r.step() {
			t.Fatalf("not noticed after %v", r.now.Sub(dead))
		}
	}
}

// On a path that loses a packet in ten, two ends that only watch each other do so for hours: several questions
// and answers must be lost one after another before an end is taken for dead.
func TestSilenceOnALossyPath(t *testing.T) {
	r := newRig(t, 1, Config{Liveness: time.Second}, faults{lose: 0.1})
	for _, e := range r.ends {
		e.conn.Await(r.now, true)
	}
	begin := r.now
	for r.now < begin.Add(time.Hour) {
		r.step()
		if r.ends[0].conn.Silent() || r.ends[1].conn.Silent() {
			t.Fatalf("called silent after %v", r.now.Sub(begin))
		}
	}
}

// What an attacker can do: nothing but lose packets.
func TestForgeries(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	r.run(5, 5)
	a := r.ends[0]
	b := r.ends[1]
	head, payload := frame(0, 5)
	a.conn.Queue(r.now, head, payload)
	var out [4]Packet
	if n := a.conn.Output(r.now, out[:]); n != 1 {
		t.Fatalf("%d packets", n)
	}
	pkt := append(bytes.Clone(out[0].Header), out[0].Payload...)
	refused := func(name string, pkt []byte, want error) {
		t.Helper()
		_, err := b.self.Check(pkt)
		if err == nil {
			_, err = b.conn.Recv(r.now, pkt, Tagged, true)
		}
		if err != want {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	flip := func(at int, bits byte) []byte {
		p := bytes.Clone(pkt)
		p[at] ^= bits
		return p
	}
	change := func(at int) []byte { return flip(at, 1) }
	refused("another job", change(8), ErrForeign)
	refused("another destination", change(16), ErrForeign)
	refused("another magic", change(0), wire.ErrField)
	refused("another flag", flip(20, 0x80), wire.ErrField)
	for at := 21; at < len(pkt); at++ {
		if at >= 32 && at < 40 {
			refused("another incarnation", change(at), ErrStale)
			continue
		}
		refused("a flipped bit", change(at), ErrTag)
	}
	refused("cut short", pkt[:40], wire.ErrShort)
	if frm, err := b.conn.Recv(r.now, pkt, Tagged, true); err != nil || frm == nil {
		t.Fatalf("the packet itself: %v", err)
	}
	refused("a replay", pkt, ErrReplay)

	// The same process, started anew: packets to the one before it are not for it.
	again := NewConn(&Config{}, NewSelf(job, 1, 77, rigSecret), 0, life(0))
	if _, err := again.Recv(r.now, pkt, Tagged, true); err != ErrTag {
		t.Errorf("a packet for an earlier incarnation: %v", err)
	}
}

// Payloads that are detached are copied before their owner changes them.
func TestDetach(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	head, payload := frame(0, 30)
	want := bytes.Clone(payload)
	r.ends[0].conn.Queue(r.now, head, payload)
	r.ends[0].conn.Detach(payload[:10])
	clear(payload)
	var out [4]Packet
	r.ends[0].conn.Output(r.now, out[:])
	if !bytes.Equal(out[0].Payload, want) {
		t.Error("the packet changed with its owner's memory")
	}
}

func TestNoAllocation(t *testing.T) {
	for _, g := range []Guard{Checked, Tagged, Encrypted} {
		t.Run(g.String(), func(t *testing.T) { noAllocation(t, g) })
	}
}

func noAllocation(t *testing.T, g Guard) {
	r := newRig(t, 1, Config{}, faults{})
	for _, e := range r.ends {
		e.conn.Guard(g)
	}
	r.run(300, 300)
	a := r.ends[0]
	b := r.ends[1]
	head, payload := frame(0, 39)
	var out [4]Packet
	pkt := make([]byte, 0, 4096)
	exchange := func(from, to *end) {
		n := from.conn.Output(r.now, out[:])
		for _, p := range out[:n] {
			pkt = append(append(pkt[:0], p.Header...), p.Payload...)
			if _, err := to.conn.Recv(r.now, pkt, g, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(1000, func() {
		a.conn.Queue(r.now, head, payload)
		exchange(a, b)
		r.now = r.now.Add(time.Millisecond)
		b.conn.Advance(r.now)
		exchange(b, a)
	}); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

func FuzzLink(f *testing.F) {
	for _, g := range []Guard{Checked, Tagged, Encrypted} {
		r := newRig(f, 1, Config{}, faults{})
		r.ends[0].conn.Guard(g)
		r.ends[0].todo = 3
		r.send(0)
		for _, fl := range r.wire {
			f.Add(fl.pkt)
		}
	}
	f.Fuzz(func(t *testing.T, pkt []byte) {
		r := newRig(t, 1, Config{}, faults{})
		e := r.ends[1]
		if _, err := e.self.Check(pkt); err == nil {
			e.conn.Recv(1, pkt, Checked, true)
		}
		if e.conn.auth.counter != 0 {
			t.Error("answered")
		}
		e.conn.Advance(monotime.Time(time.Second))
	})
}
