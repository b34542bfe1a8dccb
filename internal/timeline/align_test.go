package timeline

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A cluster makes parts of ranks on hosts with clocks of their own.
type cluster struct {
	chance *rand.Rand
	parts  []*Part
	offset []int64   // of each rank's clock
	drift  []float64 // of it, per ns
	seq    uint32
}

func newCluster(offset []int64, drift []float64) *cluster {
	c := &cluster{chance: rand.New(rand.NewPCG(1, 2)), offset: offset, drift: drift}
	for rank := range offset {
		host := string(rune('a' + rank))
		c.parts = append(c.parts, &Part{Head: Head{Rank: rank, Size: len(offset), Host: host, Clock: host,
			Wall: -offset[rank]}})
	}
	return c
}

// by returns the time by a rank's clock.
func (c *cluster) by(rank int, now int64) int64 {
	return now + c.offset[rank] + int64(c.drift[rank]*float64(now))
}

// send makes a message that takes from 10 to 30 us.
func (c *cluster) send(now int64, from, to int) {
	c.seq++
	id := MessageID(from, to, 1, c.seq)
	arrives := now + 10_000 + c.chance.Int64N(20_000)
	begin := c.by(from, now)
	end := c.by(to, arrives)
	c.parts[from].Events = append(c.parts[from].Events,
		Event{Begin: begin, End: begin, ID: id, Peer: int32(to), Kind: Send})
	c.parts[to].Events = append(c.parts[to].Events,
		Event{Begin: end - 5000, End: end, ID: id, Peer: int32(from), Kind: Receive})
}

// barrier lets all pass a phase: each arrives at some time within 40 us.
func (c *cluster) barrier(now int64, phase uint64) {
	for rank, p := range c.parts {
		p.Events = append(p.Events, Event{
			Begin: c.by(rank, now+c.chance.Int64N(40_000)), End: c.by(rank, now+45_000), ID: 9, Size: phase, Peer: Nobody,
			Kind: Pass,
		})
	}
}

// check aligns the parts, and compares how far the clocks are off then.
func (c *cluster) check(t *testing.T, until, limit int64) []Clock {
	t.Helper()
	type moments struct{ was, is int64 }
	var probes [][]moments // events appended to each part that tell the true time
	for rank, p := range c.parts {
		var of []moments
		for i := range int64(5) {
			now := until * i / 4
			of = append(of, moments{was: now})
			p.Events = append(p.Events, Event{Begin: c.by(rank, now), End: c.by(rank, now), Kind: Put, Peer: Nobody})
		}
		probes = append(probes, of)
	}
	clocks := Align(c.parts)
	for rank, p := range c.parts {
		for i := range 5 {
			at := p.Events[len(p.Events)-5+i].Begin
			probes[rank][i].is = at
			off := at - (probes[0][i].is) // rank 0 keeps its clock
			if math.Abs(float64(off)) > float64(limit) {
				t.Errorf("rank %d is %d ns off at %d ns", rank, off, probes[rank][i].was)
			}
		}
	}
	return clocks
}

// TestAlignByMessages: hosts whose clocks differ by hours and drift are put on one clock,
// also those that have not spoken with rank 0's, to within the time that a message takes.
func TestAlignByMessages(t *testing.T) {
	c := newCluster([]int64{0, 3600e9, -7e12}, []float64{0, 40e-6, -25e-6})
	const until = 20e9
	for now := int64(0); now < until; now += 1e7 {
		c.send(now, 0, 1)
		c.send(now+1e6, 1, 0)
		c.send(now+2e6, 1, 2)
		c.send(now+3e6, 2, 1)
	}
	clocks := c.check(t, until, 15_000)
	if n := Early(c.parts); n > 0 {
		t.Errorf("%d messages are received before they are sent", n)
	}
	for i, want := range []float64{0, -40e-6, 25e-6} {
		if math.Abs(clocks[i].Drift-want) > 1e-6 {
			t.Errorf("clock %d drifts by %v", i, clocks[i].Drift)
		}
	}
}

// TestAlignByBarriers: without messages barriers tell how clocks differ.
func TestAlignByBarriers(t *testing.T) {
	c := newCluster([]int64{5e9, -1e12, 77}, []float64{0, 0, 0})
	for phase := range uint64(50) {
		c.barrier(int64(phase)*1e6, phase+1)
	}
	clocks := c.check(t, 5e7, 45_000)
	for _, k := range clocks[1:] {
		if k.Known <= 0 || k.Known > 45_000 {
			t.Errorf("%+v", k)
		}
	}
}

// TestAlignOneWay: messages in one direction only are not received before they are sent.
func TestAlignOneWay(t *testing.T) {
	c := newCluster([]int64{0, -9e9}, []float64{0, 0})
	for now := int64(0); now < 1e9; now += 1e7 {
		c.send(now, 0, 1)
	}
	clocks := c.check(t, 1e9, 40_000)
	if clocks[1].Known != -1 || Early(c.parts) > 0 {
		t.Errorf("%+v, %d early", clocks[1], Early(c.parts))
	}
}

// TestAlignByWallClocks: hosts that have not spoken are compared by their wall clocks.
func TestAlignByWallClocks(t *testing.T) {
	c := newCluster([]int64{0, 1e12}, []float64{0, 0})
	if clocks := c.check(t, 1e9, 1); clocks[1].Known != -1 {
		t.Errorf("%+v", clocks[1])
	}
}

// TestSettle: a send that was noted after its receiver had the message is drawn before that.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		id            uint64
		send, receive Kind
	}{{MessageID(0, 1, 1, 1), Send, Receive}, {MailID(1, 1, 1), IPush, Deliver}} {
		parts := []*Part{
			{Head: Head{Rank: 0, Size: 2, Clock: "x"}, Events: []Event{{Begin: 120, End: 120, ID: c.id, Kind: c.send}}},
			{Head: Head{Rank: 1, Size: 2, Clock: "x"}, Events: []Event{{Begin: 50, End: 100, ID: c.id, Kind: c.receive}}},
		}
		if n := Early(parts); n != 1 {
			t.Errorf("%v: %d are early before the clocks are aligned", c.send, n)
		}
		Align(parts)
		if at := parts[0].Events[0].Begin; at != 99 {
			t.Errorf("the %v is at %d", c.send, at)
		}
	}
}
