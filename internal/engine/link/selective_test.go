package link

import (
	"container/heap"
	"testing"
	"time"

	"weft/internal/monotime"
)

// One lost packet among ten is sent again, and no other.
func TestSelectiveRepeat(t *testing.T) {
	for name, cfg := range map[string]Config{"go-back-n": {}, "selective": {Selective: true}} {
		r := newRig(t, 1, cfg, faults{})
		r.run(1, 1) // so that each knows what the other knows
		r.ends[0].todo = 10
		r.send(0)
		for i, f := range r.wire {
			if seqOf(f.pkt) == 3 {
				r.wire = append(r.wire[:i], r.wire[i+1:]...)
				break
			}
		}
		for r.ends[1].got < 11 {
			if !r.step() {
				t.Fatalf("stuck: %s", r)
			}
		}
		want := uint64(8)
		if cfg.Selective {
			want = 1
		}
		a := r.ends[0].conn.counts
		b := r.ends[1].conn.counts
		if a.Sent.Lost != 0 || b.Received.Lost != 1 || a.Sent.Resent != want {
			t.Errorf("%s: resent %d, want %d: %s", name, a.Sent.Resent, want, r)
		}
	}
}

// Where packets overtake each other one that comes a little later is not missed, and one that is lost is told of
// after half a round trip, though few have come behind it.
func TestGapThatLasts(t *testing.T) {
	for name, c := range map[string]struct {
		late   time.Duration // 0: it is lost
		losses uint64
	}{"late": {2 * time.Microsecond, 0}, "lost": {0, 1}} {
		r := newRig(t, 1, Config{Selective: true}, faults{})
		r.ends[1].conn.Spread(2)
		r.run(20, 20)
		start := r.now
		r.ends[0].todo = 10
		for range 4 { // the transport may have no room at first
			r.send(0)
		}
		for i := range r.wire {
			switch f := &r.wire[i]; {
			case f.to != 1 || seqOf(f.pkt) != 23:
			case c.late > 0:
				f.at = f.at.Add(c.late)
			default:
				f.pkt = nil
			}
		}
		heap.Init(&r.wire)
		for r.ends[1].got < 30 {
			if !r.step() {
				t.Fatalf("stuck: %s", r)
			}
		}
		took := r.now.Sub(start)
		if got := r.ends[1].conn.counts.Received.Lost; got != c.losses || r.ends[0].conn.counts.Sent.Resent != c.losses ||
			took > 100*time.Microsecond {
			t.Errorf("%s: %d gaps were told, want %d; it took %v: %s", name, got, c.losses, took, r)
		}
	}
}

// A packet for whose frame there was no room when its turn came is kept no longer when it comes again.
func TestKeptWithoutRoom(t *testing.T) {
	r := newRig(t, 1, Config{Selective: true}, faults{})
	c := r.ends[1].conn
	c.send.selective = true
	c.receive(r.now, 1, []byte{1}, true)
	c.receive(r.now, 0, []byte{0}, true)
	if b := c.Kept(r.now, false); b != nil || c.recv.kept.count != 1 {
		t.Fatalf("%x without room, %d are kept", b, c.recv.kept.count)
	}
	c.RoomAgain(r.now)
	if b := c.receive(r.now, 1, []byte{1}, true); len(b) != 1 || c.recv.kept.count != 0 || c.recv.kept.bytes != 0 {
		t.Errorf("%x when it comes again, %d are kept", b, c.recv.kept.count)
	}
}

// A packet for which all others wait is sent again at once; the others that are missing wait for room on the path.
func TestMissingPacketsWaitForRoom(t *testing.T) {
	for name, c := range map[string]struct{ window, first, second int }{
		"the window is full":      {4 * packet, 1, 0},
		"the window is small":     {packet, 0, 0},
		"there is room for three": {103 * packet, 3, 0},
	} {
		r := newRig(t, 1, Config{Selective: true}, faults{})
		r.run(1, 1)
		r.ends[0].todo = 10
		for r.ends[0].todo > 0 || r.ends[0].conn.send.next != r.ends[0].conn.send.tail {
			r.send(0)
		}
		a := r.ends[0].conn
		for seq := a.send.base; seq != a.send.high; seq++ {
			a.miss(a.slot(seq))
			a.landed(a.slot(seq))
		}
		a.congestion.window = c.window
		a.congestion.pace = monotime.Never
		a.send.flying = 100
		for _, want := range []int{c.first, c.second} {
			var packets [16]Packet
			if n := a.Output(r.now, packets[:]); n != want {
				t.Errorf("%s: %d packets, want %d", name, n, want)
			}
			a.send.flying = max(a.send.flying, 103)
		}
	}
}

// With one packet in a hundred lost, selective repeat sends little more than was
// lost.
func TestSelectiveRepeatUnderLoss(t *testing.T) {
	const n = 20000
	resent := func(cfg Config) uint64 {
		r := newRig(t, 7, cfg, faults{lose: 0.01})
		r.run(n, 0)
		return r.ends[0].conn.counts.Sent.Resent
	}
	back := resent(Config{Window: 64})
	selective := resent(Config{Window: 64, Selective: true})
	if selective > n/40 || back < 10*selective {
		t.Errorf("go-back-N resent %d, selective repeat %d", back, selective)
	}
}

// A peer that does not know selective repeat is served without it.
func TestSelectiveIsNegotiated(t *testing.T) {
	r := newRig(t, 3, Config{Selective: true}, faults{lose: 0.05})
	other := NewConn(&Config{}, r.ends[1].self, 0, life(0))
	r.ends[1].conn = other
	r.run(500, 500)
	if other.recv.kept.shelf != nil || r.ends[0].conn.recv.kept.shelf != nil {
		t.Error("packets were kept")
	}
}

// Packets with checksums are taken from a trusted network only, and damage is
// found.
func TestChecksums(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{corrupt: 0.1, delay: 50 * time.Microsecond})
	for _, e := range r.ends {
		e.conn.Guard(Checked)
	}
	r.run(300, 300)
	if r.ends[0].errs[ErrTag] == 0 {
		t.Errorf("no damage was found: %s", r)
	}
	r.ends[0].todo = 1
	for len(r.wire) == 0 { // the transport may have no room
		r.send(0)
	}
	pkt := r.wire[len(r.wire)-1].pkt
	if _, err := r.ends[1].conn.Recv(r.now, pkt, Tagged, true); err != ErrTag {
		t.Errorf("a checksum from an untrusted network: %v", err)
	}
}
