package link

import (
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A path is a congestion window and round trips that a test makes up. Idle ones take
// idleTrip.
type path struct {
	t    *testing.T
	c    congestion
	now  monotime.Time
	next uint32 // packet to transmit
}

const idleTrip = 20 * time.Microsecond

func newPath(t *testing.T, cfg Config) *path {
	cfg = cfg.WithDefaults()
	p := &path{t: t, c: newCongestion(&cfg), now: 1}
	p.trip(0)
	return p
}

// atRest is a path whose window of 64 packets does not double any more.
func atRest(t *testing.T) *path {
	p := newPath(t, Config{})
	p.c.window = initialWindow
	p.c.slow = 0
	return p
}

// trip lets a window of packets go to and fro, which have waited for at least so long.
func (p *path) trip(delay time.Duration) {
	n := max(p.c.limit()/packet, 1)
	p.next += uint32(n)
	p.c.full = true
	p.now = p.now.Add(idleTrip + delay)
	for _, more := range []time.Duration{3 * time.Microsecond, 0, 50 * time.Microsecond} {
		p.c.measured(p.now, 1500, idleTrip+delay+more, 0, true)
	}
	p.c.acknowledged(p.next, p.next, n)
}

func (p *path) trips(n int, delay time.Duration) {
	for range n {
		p.trip(delay)
	}
}

func (p *path) want(what string, window int) {
	p.t.Helper()
	if p.c.window != window {
		p.t.Errorf("%s: a window of %.3f packets, want %.3f", what, float64(p.c.window)/packet, float64(window)/packet)
	}
}

// may is how long the packets of a sender that is alone may wait.
const may = idleTrip / 2

// waiting is how long packets wait if so many of a window of so many do, beyond what may.
func waiting(queued, window float64) time.Duration {
	return may + time.Duration(float64(idleTrip)*queued/(window-queued))
}

// near is want within a tenth of a packet.
func (p *path) near(what string, window float64) {
	p.t.Helper()
	if got := float64(p.c.window) / packet; got < window-0.1 || got > window+0.1 {
		p.t.Errorf("%s: a window of %.3f packets, want %.3f", what, got, window)
	}
}

// The window of a new peer doubles until packets wait.
func TestWindowDoubles(t *testing.T) {
	p := newPath(t, Config{})
	p.want("a round trip in which no packet waits", 2*initialWindow)
	p.trip(waiting(64, 128))
	p.near("half of them wait", 128-(64-4)/2.)
	p.trip(may)
	p.near("none waits", 98+2)
	p = newPath(t, Config{})
	p.trips(3, 0)
	p.want("as large as it may be", 256*packet)
}

// The window grows half of the way to where as many packets wait as should, and faster if
// they hardly wait for several round trips.
func TestWindowGrows(t *testing.T) {
	p := atRest(t)
	p.trip(waiting(2, 64))
	p.near("two should wait besides", 65)
	p.trips(100, waiting(2, 16))
	p.near("it is as large as packets can be on their way", 32)
	was := p.c.window
	p.trip(0)
	p.trip(may)
	p.want("none waits", was+standing/2*2)
	p.trip(0)
	p.want("none waits for long", (was+standing)*3/2)
	p.trips(100, 0)
	p.want("as large as it may be", 256*packet)
}

// A window that is not full stays as it is: what waits is not its doing.
func TestWindowIsNotFull(t *testing.T) {
	p := newPath(t, Config{})
	was := p.c.window
	trip := func(delay time.Duration) {
		p.next++
		p.c.sent(p.now, false)
		p.c.measured(p.now, 1500, idleTrip+delay, 0, true)
		p.c.acknowledged(p.next, p.next, 1)
	}
	for range 10 {
		trip(0)
		trip(10 * idleTrip)
	}
	p.want("one packet at a time", was)
}

// The window shrinks half of the way to where few packets wait, by what the least of a round
// trip has waited.
func TestWindowShrinks(t *testing.T) {
	p := atRest(t)
	p.trip(waiting(32, 64))
	p.near("half of them wait", 64-(32-4)/2.)
	p.trips(20, may+3*idleTrip)
	p.near("three quarters may wait if that is only three", 4*4./3)
	p.trips(10, may+7*idleTrip)
	p.near("no less than these", 4*8./7)
}

// For what an end may just not have looked at its transport packets have not waited, and
// a round trip that is long because of that is no reason to send less.
func TestAbsenceIsNoCongestion(t *testing.T) {
	p := newPath(t, Config{})
	was := p.c.window
	for range 20 {
		p.next += 64
		p.c.full = true
		p.c.measured(p.now, 1500, idleTrip+10*time.Millisecond, 10*time.Millisecond, true)
		p.c.acknowledged(p.next, p.next, 64)
	}
	if p.c.window < was || p.c.away != 10*time.Millisecond {
		t.Errorf("a window of %d after %d, away for %v", p.c.window, was, p.c.away)
	}
	was = p.c.window
	p.trip(7 * time.Millisecond)
	if p.c.window < was {
		t.Errorf("a window of %d after %d, though a queue fills the time for which an end is away", p.c.window, was)
	}
	p.trips(200, 0)
	if p.c.away > time.Microsecond {
		t.Errorf("when both look all the time they are away for %v", p.c.away)
	}
}

// Short packets are faster than long ones, and say nothing of how these wait.
func TestShortPackets(t *testing.T) {
	p := newPath(t, Config{})
	p.c.measured(p.now, 100, idleTrip/4, 0, true)
	if p.c.base != idleTrip {
		t.Errorf("the round trip of long packets is %v", p.c.base)
	}
	p.c.measured(p.now, 9000, 3*idleTrip, 0, true)
	if p.c.base != 3*idleTrip || p.c.delay != 0 {
		t.Errorf("that of longer ones %v, and they wait for %v", p.c.base, p.c.delay)
	}
}

// A path that has become longer is known after an age or two.
func TestBaseAges(t *testing.T) {
	p := newPath(t, Config{})
	for range 3 {
		p.now = p.now.Add(ageing)
		p.trip(5 * idleTrip)
	}
	if p.c.base != 6*idleTrip {
		t.Errorf("the smallest round trip is %v", p.c.base)
	}
}

// After a timeout the window is one packet, and doubles up to half of what it was. If
// everything had only been late it is as before.
func TestTimeouts(t *testing.T) {
	p := newPath(t, Config{})
	was := p.c.window
	late := *p
	p.c.timedOut(p.next-10, p.next)
	p.c.timedOut(p.next-10, p.next)
	p.want("two timeouts", packet)
	p.c.settle(false)
	p.c.acknowledged(p.next-9, p.next-9, 1)
	for n := 0; p.c.window < was/2; n++ {
		before := p.c.window
		p.trip(idleTrip / 100)
		if n > 2*pacedRound+5 || p.c.window != before && p.c.window != min(2*before, was/2) {
			t.Fatalf("a window of %d after %d", p.c.window, before)
		}
	}
	late.c.timedOut(late.next-10, late.next)
	late.c.settle(true)
	late.c.acknowledged(late.next, late.next, 10)
	late.want("only late", was)
}

// The senders to one receiver share what may be on its way there, and what may wait.
// After a pause a peer has its whole share.
func TestShares(t *testing.T) {
	p := newPath(t, Config{})
	p.c.heard(crowdSizes{64, 1})
	p.want("one of 64", 4*packet)
	p.trips(200, 7*idleTrip)
	if p.c.window < packet*4/64 || p.c.window > packet*5/64 {
		t.Errorf("one of 64, when packets wait: a window of %d", p.c.window)
	}
	p.c.resume()
	p.want("after a pause", 4*packet)
	p.c.heard(crowdSizes{255, 1})
	if p.c.share != 256*packet/255 {
		t.Errorf("a share of %d", p.c.share)
	}
	p.c.heard(crowdSizes{32, 32})
	p.c.resume()
	p.want("one of 32, which sends to 32", initialWindow)
	p.c.heard(crowdSizes{33, 32})
	if p.c.senders != 2 {
		t.Errorf("one of 33, which sends to 32, counts %d", p.c.senders)
	}
	p.c.heard(crowdSizes{0, 0})
	p.c.resume()
	p.want("alone, after a pause", initialWindow)
}

// Small windows are paced: so many packets leave in a round trip, one by one. If a timer
// is late packets follow each other until that is made up for.
func TestPacing(t *testing.T) {
	p := newPath(t, Config{})
	p.c.window = packet / 4
	if !p.c.room(p.now, 0) {
		t.Fatal("the first has to wait")
	}
	p.c.sent(p.now, false)
	at := p.now.Add(4 * p.c.clock)
	if p.c.pace != at || p.c.room(at-1, 0) || !p.c.room(at, 0) || p.c.room(at, 1) {
		t.Errorf("a window of a quarter: after %v the next may leave at %v, want %v", p.now, p.c.pace, at)
	}
	late := at.Add(10 * p.c.clock)
	n := 0
	for ; p.c.room(late, 0); n++ {
		p.c.sent(late, true)
	}
	if n != 3 {
		t.Errorf("2.5 times late: %d packets leave", n)
	}
	p.c.sent(late.Add(time.Hour), false)
	if p.c.room(late.Add(time.Hour), 0) {
		t.Error("what has not waited is not made up for")
	}
	p.c.window = 2*packet + packet/2
	if at = late.Add(2 * time.Hour); !p.c.room(at, 2) || p.c.room(at, 3) {
		t.Error("in a window of 2.5 are up to 3 packets")
	}
}

// Where the queue stays long however small the window becomes, others fill it: then the window doubles to half of the
// rate that it had, grows whatever the delay, and only losses make it smaller, until the queue is short.
func TestCompetes(t *testing.T) {
	p := newPath(t, Config{})
	was := p.c.window
	p.trips(patient/manifest, 20*idleTrip)
	if p.c.competes || p.c.window > was/8 {
		t.Fatalf("a window of %d, was %d", p.c.window, was)
	}
	p.trip(20 * idleTrip)
	p.want("competing, from half of the peak", was/2)
	p.trips(3, 20*idleTrip)
	half := 64 * packet * 47 / 14 // of the rate of 64 packets in 70 us, now that it takes 470
	p.want("three round trips later", half+packet)
	p.c.lost(p.next, p.next+1, 1)
	p.want("a loss", (half+packet)*7/10)
	p.trip(2 * idleTrip)
	p.want("a round trip later", (half+packet)*7/10+packet)
	p.trips(2*patient/manifest-1, idleTrip/3)
	if !p.c.competes {
		t.Error("it gives up though the queue was long")
	}
	p.trip(idleTrip / 3)
	if p.c.competes {
		t.Error("it competes though nothing waits")
	}
}

// A fixed window stays as it is.
func TestFixedWindow(t *testing.T) {
	p := newPath(t, Config{FixedWindow: true, Window: 100})
	p.trips(3, 50*idleTrip)
	p.c.lost(p.next, p.next+1, 50)
	p.c.timedOut(p.next, p.next+1)
	p.c.heard(crowdSizes{64, 1})
	if p.c.limit() != 100*packet || !p.c.room(p.now, 99) || p.c.room(p.now, 100) {
		t.Errorf("%d", p.c.limit())
	}
}

// A receiver counts, for a while, the peers that have more packets waiting.
func TestCrowd(t *testing.T) {
	self := NewSelf(job, 0, life(0), rigSecret)
	var conns []*Conn
	for i := range 300 {
		conns = append(conns, NewConn(&Config{}, self, uint32(i+1), life(i+1)))
	}
	now := monotime.Time(1)
	for _, c := range conns {
		c.crowded(now, wire.More)
		c.crowded(now, wire.More)
	}
	if n := self.crowd.count(now); n != 255 || self.crowd.size != 300 {
		t.Errorf("%d of 300", n)
	}
	for _, i := range []int{0, 150, 299, 299} {
		conns[i].crowded(now, 0)
	}
	if self.crowd.size != 297 {
		t.Errorf("%d of 297", self.crowd.size)
	}
	now = now.Add(present)
	conns[7].crowded(now, wire.More)
	if n := self.crowd.count(now.Add(1)); n != 1 {
		t.Errorf("%d have sent lately", n)
	}
	conns[7].Farewell()
	if n := self.crowd.count(now); n != 0 || !self.crowd.conns.Empty() {
		t.Errorf("%d are left", n)
	}
}

// A process counts the peers to which it has more to send, until their links end.
func TestSending(t *testing.T) {
	self := NewSelf(job, 0, life(0), rigSecret)
	a := NewConn(&Config{}, self, 1, life(1))
	b := NewConn(&Config{}, self, 2, life(2))
	for _, c := range []*Conn{a, b, a} {
		c.More(true)
	}
	a.More(false)
	if self.sending != 1 {
		t.Errorf("it sends to %d peers, want 1", self.sending)
	}
	a.More(true)
	a.Farewell()
	b.End()
	if self.sending != 0 {
		t.Errorf("it sends to %d peers that are gone", self.sending)
	}
}
