package engine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
)

// newLossy returns two engines that reach each other over paths of 1472 bytes that lose packets.
func newLossy(t *testing.T) *cluster {
	c := &cluster{t: t, now: 1}
	for rank := range 2 {
		c.engines = append(c.engines, New(Config{
			Rank: rank, Size: 3, Job: 1, Secret: make([]byte, 32), Incarnation: uint64(rank) + 1,
			Rand: func() uint64 { return 1 },
		}))
	}
	for rank, e := range c.engines {
		e.Connect(c.now, 1-rank, Path{MTU: 1472, Lossy: true, Incarnation: uint64(1-rank) + 1})
	}
	return c
}

// carry moves the packets of a rank to the other one, or loses them, and returns how many there were.
func (c *cluster) carry(from int, lose bool) (packets int) {
	var out [8]link.Packet
	for {
		to, n, _ := c.engines[from].Output(c.now, out[:])
		if n == 0 {
			return packets
		}
		packets += n
		for _, p := range out[:n] {
			if !lose {
				c.engines[to].Recv(c.now, From(link.Checked), slices.Concat(p.Header, p.Payload))
			}
		}
		c.engines[from].Taken(c.now, to, n, n, out[:])
	}
}

// What one side counts as sent, the other counts as received, over either kind of path, and round trips are measured
// where there are links.
func TestBothSidesCountTheSame(t *testing.T) {
	for name, c := range map[string]*cluster{"reliable": newCluster(t, 2, 1472), "lossy": newLossy(t)} {
		from := c.open(0, msg.Config{})
		c.open(1, msg.Config{})
		for range 20 {
			if !from.Give(1, make([]byte, 3000)) {
				t.Fatal("there is no room for a message")
			}
			for range 6 {
				c.carryBoth(name == "lossy")
				c.now = c.now.Add(time.Millisecond)
			}
		}
		var sent, received counters.Flow
		for _, e := range c.engines {
			s := e.Stats()
			sent.Packets += s.Sent.Packets
			sent.Bytes += s.Sent.Bytes
			received.Packets += s.Received.Packets
			received.Bytes += s.Received.Bytes
		}
		if rtt := c.engines[0].Stats().RTT; (rtt > 0) != (name == "lossy") {
			t.Errorf("%s: a round trip takes %v", name, rtt)
		}
		if sent != received || sent.Packets < 60 || sent.Bytes < 60_000 || sent.Bytes > 80_000 {
			t.Errorf("%s: sent %+v, received %+v", name, sent, received)
		}
	}
}

// carryBoth moves the packets of both ranks once.
func (c *cluster) carryBoth(lossy bool) {
	if !lossy {
		c.settle()
		return
	}
	c.carry(0, false)
	c.now = c.now.Add(time.Millisecond)
	c.carry(1, false)
}

// A rank is dialled once, and neither when it is connected nor when it is gone.
func TestWanted(t *testing.T) {
	e := newLossy(t).engines[0]
	wanted := func(what string, rank int, want ...int) {
		t.Helper()
		if e.Want(rank); !slices.Equal(e.Wanted(nil), want) {
			t.Errorf("%s: %v are dialled", what, want)
		}
	}
	wanted("a rank that is connected", 1)
	wanted("a rank that is not", 2, 2)
	wanted("the same rank again", 2)
	e = newLossy(t).engines[0]
	e.Down(2, errors.New("it is gone"), false)
	wanted("a rank that is gone", 2)
}

// The longest packet is what the path takes: of a link, of a reliable path, and none where there is no path.
func TestLongestPackets(t *testing.T) {
	e := newLossy(t).engines[0]
	if n := e.MTU(1); n != e.peers[1].conn.MTU() || n == 0 || n > 1472 {
		t.Errorf("over a link: %d bytes", n)
	}
	e.Want(2)
	if n := e.MTU(2); n != 0 {
		t.Errorf("where there is no path yet: %d bytes", n)
	}
	e.Connect(1, 2, Path{MTU: 5000, Beats: true})
	if n := e.MTU(2); n != 5000 {
		t.Errorf("over a reliable path: %d bytes", n)
	}
	e.Detach(make([]byte, 10)) // peers without a link borrow nothing
}

// An engine is idle when all has been acknowledged by all peers that are not gone.
func TestIdle(t *testing.T) {
	c := newLossy(t)
	from := c.open(0, msg.Config{})
	c.open(1, msg.Config{})
	e := c.engines[0]
	if !e.Idle() {
		t.Error("at first it is busy")
	}
	from.Give(1, []byte("hello"))
	if e.Idle() {
		t.Error("it is idle with a message to send")
	}
	c.carry(0, false)
	if e.Idle() {
		t.Error("it is idle, and the message has not been acknowledged")
	}
	for range 20 {
		c.now = c.now.Add(10 * time.Millisecond)
		for rank := range c.engines {
			c.engines[rank].Advance(c.now)
			c.carry(rank, false)
		}
	}
	if !e.Idle() {
		t.Error("all has been acknowledged, and it is busy")
	}
	from.Give(1, []byte("hello"))
	c.carry(0, true)
	e.Down(1, errors.New("it is gone"), false)
	if !e.Idle() {
		t.Error("it is busy for a rank that is gone")
	}
}

// A rank that leaves repeats its BYE until it is acknowledged, also if the first acknowledgement is lost.
func TestByeIsAnsweredAgain(t *testing.T) {
	c := newLossy(t)
	from := c.open(1, msg.Config{})
	c.open(0, msg.Config{})
	from.Give(0, []byte("hello"))
	for range 4 {
		c.carryBoth(true)
	}
	leaver := c.engines[1]
	leaver.Leave("")
	c.carry(1, false)
	c.carry(0, true) // it is lost
	if len(c.engines[0].Departed()) != 1 || leaver.Idle() {
		t.Fatalf("%v have gone; the rank that leaves is idle: %v", c.engines[0].Departed(), leaver.Idle())
	}
	for range 100 {
		c.now = c.now.Add(50 * time.Millisecond)
		leaver.Advance(c.now)
		if c.carry(1, false) > 0 && c.carry(0, false) > 0 && leaver.Idle() {
			return
		}
	}
	t.Error("BYE is not acknowledged")
}

// The return of a program is not told to a rank that has gone meanwhile.
func TestReturnIsNotToldToTheGone(t *testing.T) {
	c := newCluster(t, 2, 1472)
	from := c.open(0, msg.Config{})
	from.Give(1, []byte("hello")) // and no port takes it
	c.settle()
	e := c.engines[0]
	if told := e.Return(); !slices.Equal(told, []int{1}) || e.Return() != nil {
		t.Errorf("%v are told", told)
	}
	c.settle()
	if !e.Telling() {
		t.Fatal("all has been told, and the message is refused")
	}
	e.Down(1, errors.New("it is gone"), false)
	e.Down(1, errors.New("it is gone once more"), false)
	e.Down(0, errors.New("this rank itself"), false)
	e.Advance(c.now)
	if e.Telling() || e.peers[1].q.Len() > 0 || len(e.Departed()) != 1 || len(e.Departures()) != 1 {
		t.Errorf("telling: %v, %d frames for the rank that has gone; %v", e.Telling(), e.peers[1].q.Len(), e.Departures())
	}
}

// What found no room is not offered before Retry, and all of it then.
func TestBlocked(t *testing.T) {
	c := newCluster(t, 2, 1472)
	from := c.open(0, msg.Config{})
	e := c.engines[0]
	c.settle()
	e.Retry()
	if e.Blocked() || !e.Quiet() {
		t.Error("with nothing to send it is blocked, or not quiet")
	}
	from.Give(1, []byte("hello"))
	var out [8]link.Packet
	offered := func() int { _, n, _ := e.Output(c.now, out[:]); return n }
	e.Taken(c.now, 1, offered(), 0, out[:])
	if !e.Blocked() || offered() != 0 {
		t.Error("what found no room is offered again at once")
	}
	if e.Retry(); e.Blocked() || offered() != 1 {
		t.Error("Retry does not offer it")
	}
	if e.Pause(); !e.Blocked() || offered() != 0 {
		t.Error("Pause does not put it off")
	}
	if e.Retry(); offered() != 1 {
		t.Error("Retry does not end Pause")
	}
}

// The end of a program is noted once, and neither of a rank that has gone before nor of this rank itself.
func TestReturnedOnce(t *testing.T) {
	e := newCluster(t, 3, 1472).engines[0]
	e.Returned(1)
	e.Returned(1)
	e.Returned(0)
	e.Down(2, errors.New("it is gone"), false)
	e.Returned(2)
	var ranks []int
	for _, d := range e.Departures() {
		ranks = append(ranks, d.Rank)
	}
	if !slices.Equal(ranks, []int{1, 2}) || e.Departures()[0].Why.Clean == e.Departures()[1].Why.Clean {
		t.Errorf("%+v", e.Departures())
	}
	e.Down(1, errors.New("it is gone"), false)
	if len(e.Departures()) != 2 || !slices.Equal(e.Departed(), []int{2, 1}) {
		t.Errorf("%+v; %v have gone", e.Departures(), e.Departed())
	}
	if e.peers[0].returned || e.peers[2].returned || !e.peers[1].returned {
		t.Error("another rank than 1 counts as returned")
	}
}
