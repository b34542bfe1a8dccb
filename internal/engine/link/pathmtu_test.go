package link

import (
	"fmt"
	"math"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// full returns a rig whose end 0 sends packets as long as it may, up to 1500 bytes.
func full(t testing.TB, seed uint64, selective bool, net faults) *rig {
	r := newRig(t, seed, Config{Selective: selective, Window: 32, PathRaise: 50 * time.Millisecond}, net)
	for _, e := range r.ends {
		e.conn.Limit(r.now, 1500)
		e.conn.Guard(Checked) // which takes less time
	}
	r.ends[0].fill = true
	return r
}

// more sends so many packets more from end 0.
func (r *rig) more(n int) {
	r.ends[0].todo += n
	for want := r.ends[1].got + uint64(r.ends[0].todo); r.ends[1].got < want; {
		if !r.step() {
			r.t.Fatalf("stuck: %s", r)
		}
	}
}

// pass lets d pass.
func (r *rig) pass(d time.Duration) {
	for end := r.now.Add(d); r.now < end && r.step(); {
	}
}

// TestBlackHole: a path that loses long packets, and tells nobody, is found out, and
// followed again when it has become wider. Nothing is lost for good.
func TestBlackHole(t *testing.T) {
	for _, selective := range []bool{true, false} {
		for _, c := range []struct{ narrow, least int }{{1300, 1284}, {1232, 1232}, {1499, 1483}} {
			for _, lose := range []float64{0, 0.1} {
				t.Run(fmt.Sprint(selective, c.narrow, lose), func(t *testing.T) {
					r := full(t, 1, selective, faults{lose: lose, delay: 50 * time.Microsecond})
					a := r.ends[0].conn
					r.more(200)
					r.net.mtu = c.narrow
					r.more(500)
					r.pass(time.Second)
					if n := a.MTU(); n > c.narrow || lose == 0 && n < c.least {
						t.Errorf("packets of %d bytes on a path that takes %d", n, c.narrow)
					}
					if n := a.counts.Shortened; n == 0 || n > 10 {
						t.Errorf("counted %d times", n)
					}
					r.net.mtu = 0
					r.pass(time.Second)
					if n := a.MTU(); n != 1500 {
						t.Errorf("packets of %d bytes when the path takes 1500 again", n)
					}
					r.more(500)
				})
			}
		}
	}
}

// TestLossIsNoBlackHole: what a bad network loses makes packets shorter for a moment at
// most.
func TestLossIsNoBlackHole(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		r := full(t, seed, true, faults{lose: 0.2, delay: 50 * time.Microsecond})
		r.more(2000)
		r.net.lose = 0
		r.more(100)
		r.pass(200 * time.Millisecond)
		if n := r.ends[0].conn.MTU(); n != 1500 {
			t.Errorf("packets of %d bytes", n)
		}
	})
}

// TestSilenceIsNoBlackHole: where nothing arrives, short packets would not either.
func TestSilenceIsNoBlackHole(t *testing.T) {
	r := full(t, 1, true, faults{lose: 1})
	r.ends[0].todo = 100
	r.pass(2 * time.Second)
	if c := r.ends[0].conn; c.MTU() != 1500 || c.counts.Sent.Lost == 0 {
		t.Errorf("packets of %d bytes after %d timeouts", c.MTU(), c.counts.Sent.Lost)
	}
}

// TestLimit: what the transport says of the path counts at once, and more than it says is
// never tried.
func TestLimit(t *testing.T) {
	r := full(t, 1, true, faults{delay: 50 * time.Microsecond})
	a := r.ends[0].conn
	for _, n := range []int{1280, 1400, 1500, 1000, 9000, 1500} {
		a.Limit(r.now, n)
		r.more(50)
		if a.MTU() != n {
			t.Errorf("packets of %d bytes, not %d", a.MTU(), n)
		}
	}
	r.net.mtu = 1300
	r.more(500)
	a.Limit(r.now, 1290)
	r.pass(time.Second)
	if n := a.MTU(); n != 1290 {
		t.Errorf("packets of %d bytes, not 1290", n)
	}
	a.Limit(r.now, 1500) // a router that it was told of is gone, the black hole is not
	r.more(2000)
	r.pass(time.Second)
	if n := a.MTU(); n > 1300 || n < 1284 {
		t.Errorf("packets of %d bytes on a path that takes 1300", n)
	}
}

// TestLateAnswers: an answer counts that comes when its probe was taken for lost.
func TestLateAnswers(t *testing.T) {
	p := pathMTU{raise: time.Minute}
	p.limit(0, 1500)
	p.now = p.floor()
	p.begin(0)
	for range mostTries {
		p.sending(0, time.Millisecond)
		p.advance(p.search.at)
	}
	if p.search.probe != 1366 {
		t.Fatalf("%+v", p)
	}
	if p.proved(0, 1500); p.now != 1500 || p.search.due || p.search.at != monotime.Never {
		t.Errorf("%+v", p)
	}
	p = pathMTU{raise: time.Minute}
	p.limit(0, 1500)
	p.now = p.floor()
	p.begin(0)
	p.sending(0, time.Millisecond)
	if p.limit(0, 1400); p.search.probe != 1400 {
		t.Fatalf("%+v", p)
	}
	if p.proved(0, 1500); p.now != p.floor() {
		t.Errorf("longer packets than the transport takes: %+v", p)
	}
}

// TestShorterOnesArrive: a path that takes some long packets, and loses longer ones, is found out.
func TestShorterOnesArrive(t *testing.T) {
	p := pathMTU{raise: time.Minute}
	p.limit(0, 1500)
	for i := range mostLost {
		if p.timeout(1500, whole); p.late != 1500 {
			t.Fatalf("%d: %+v", i, p)
		}
		if p.arrived(0, 1300, 1) || p.late == 0 {
			t.Fatalf("%d: an acknowledgement of 1300 bytes: %+v", i, p)
		}
		if cut := p.arrived(0, 1500, whole+1); cut != (i == mostLost-1) {
			t.Fatalf("%d: cut %v: %+v", i, cut, p)
		}
	}
	if p.now != p.floor() || p.search.probe != 1500 {
		t.Errorf("%+v", p)
	}
	p = pathMTU{raise: time.Minute}
	p.limit(0, 1500)
	for _, size := range []int{1400, 1500} {
		p.timeout(1400, whole)
		if p.arrived(0, size, 1); p.late != 0 || p.lost != 0 {
			t.Errorf("a packet of %d bytes has arrived: %+v", size, p)
		}
	}
	p.timeout(1400, whole)
	for range mostLost {
		if p.arrived(0, p.floor(), whole+1) || p.lost != 0 {
			t.Fatalf("packets that are never cut have arrived late: %+v", p)
		}
	}
}

// TestProbes: an acknowledgement of a probe that was not sent changes nothing; a probe is
// acknowledged with its length even if data leaves before.
func TestProbes(t *testing.T) {
	r := full(t, 1, true, faults{delay: 50 * time.Microsecond})
	a := r.ends[0].conn
	for _, size := range []uint32{0, 1, 1400, 1500, 1501, 1 << 31, math.MaxUint32} {
		a.path.proved(r.now, int(size))
		if a.MTU() != 1500 || a.path.search.due {
			t.Errorf("an acknowledgement of %d bytes: packets of %d", size, a.MTU())
		}
	}
	was := a.path
	a.path.late = 1400
	a.path.search.longest = 1500
	if a.path.proved(r.now, 1500); a.path.late != 1400 || a.path.wait != was.wait {
		t.Errorf("an acknowledgement of what was known: %+v", a.path)
	}
	a.path = was
	b := r.ends[1].conn
	b.path.answer = 1400
	var packets [4]Packet
	b.Queue(r.now, wire.Bye{}.Append(nil), nil)
	if n := b.Output(r.now, packets[:]); n != 2 {
		t.Fatalf("%d packets", n)
	}
	for i, want := range []wire.Kind{wire.KindData, wire.KindAck} {
		var f wire.Link
		if _, err := f.Parse(packets[i].Header); err != nil || f.Kind != want || want == wire.KindAck && f.Seq != 1400 {
			t.Errorf("packet %d is %+v: %v", i, f, err)
		}
	}
}

// TestLostProbes: probes get lost also where a receiver is busy. A search that ended too low
// for this reason is mended within seconds, and a path that stays narrow is then asked once a
// minute.
func TestLostProbes(t *testing.T) {
	const takes = 1386
	p := pathMTU{raise: time.Minute}
	p.limit(0, 1500)
	p.now = p.floor()
	p.begin(0)
	now := monotime.Time(0)
	sent := 0
	play := func(until monotime.Time, arrives func(size int) bool) {
		for {
			if s := &p.search; !s.due {
				if until.Before(s.at) {
					return
				}
				now = s.at
				p.advance(now)
				continue
			}
			size := p.sending(now, 20*time.Millisecond)
			if sent++; arrives(size) {
				p.proved(now, size)
			}
		}
	}
	second := monotime.Time(time.Second)
	play(second/2, func(int) bool { return false })
	if p.now != p.floor() || p.search.probe != 0 {
		t.Fatalf("the search is not over: %+v", p)
	}
	play(10*second, func(size int) bool { return size <= takes })
	if p.now > takes || p.now < takes-fineEnough {
		t.Errorf("packets of %d bytes on a path that takes %d", p.now, takes)
	}
	play(600*second, func(size int) bool { return size <= takes })
	if sent = 0; p.wait != time.Minute {
		t.Errorf("looks again after %v", p.wait)
	}
	play(1200*second, func(size int) bool { return size <= takes })
	if sent > 11*mostTries {
		t.Errorf("%d probes in ten minutes", sent)
	}
}
