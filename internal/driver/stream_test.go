package driver

import (
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/driver/duty"
	"weft/internal/engine"
	"weft/internal/engine/wire"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// A narrow transport has room for one packet at a time, and again when it has said no.
type narrow struct {
	transport.Transport
	in   chan []byte
	full bool
	sent atomic.Int64
}

func (t *narrow) Resized() []int         { return nil }
func (t *narrow) Counts() counters.Local { return counters.Local{} }
func (t *narrow) MemoryBytes() uint64    { return 0 }

func (t *narrow) Caps() transport.Caps {
	return transport.Caps{Name: "narrow", MTU: 4096, Reliable: true}
}
func (t *narrow) PeerMTU(int) int         { return 4096 }
func (t *narrow) Lane(int) transport.Lane { return nil }
func (t *narrow) Memory() transport.Memory {
	return nil
}
func (t *narrow) Pending() bool { return len(t.in) > 0 }
func (t *narrow) Release()      {}
func (t *narrow) Arm()          {}

func (t *narrow) Poll(dst []transport.In) int {
	select {
	case pkt := <-t.in:
		dst[0] = transport.In{From: 1, Data: pkt}
		return 1
	default:
		return 0
	}
}

func (t *narrow) Send(pkts []transport.Out) int {
	if t.full = !t.full; !t.full {
		return 0
	}
	t.sent.Add(1)
	return 1
}

// A counter is a doorbell that counts how often the service sleeps until a retry.
type counter struct {
	*doorbell.Chan
	retries atomic.Int64
}

func (c *counter) Sleep(s transport.State, d time.Duration) {
	if d >= 0 {
		c.retries.Add(1)
	}
	c.Chan.Sleep(s, d)
}

// TestStream: what a peer has asked for is sent as fast as the peer makes room, though no
// goroutine of this process waits for anything.
func TestStream(t *testing.T) {
	const size = 1 << 20
	n := New(Config{Engine: engine.Config{Rank: 0, Size: 2, Rand: func() uint64 { return 5 }, Incarnation: 1}})
	bell := &counter{Chan: doorbell.NewChan()}
	tr := &narrow{in: make(chan []byte, 1)}
	n.Start(bell, tr)
	defer n.Close(0, "")
	n.connect(1, Route{Transport: tr})
	r, err := n.Expose("r", make([]byte, size), 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr.in <- wire.Pull{Op: 1, Region: r.ID, Key: r.Key, N: size}.Append(nil)
	bell.Ring()
	const packets = size / 4096 // and a few more, because of their headers
	waittest.Until(t, "all packets have been sent", func() bool { return tr.sent.Load() >= packets })
	if retries := bell.retries.Load(); retries > packets/4 {
		t.Errorf("it slept %d times before it sent what there was room for", retries)
	}
}

// A shut transport has no room.
type shut struct{ narrow }

func (t *shut) Send([]transport.Out) int { return 0 }

// TestServiceLeavesSendingToReaper: packets that were put off, for others to have their turn, are the reaper's. A
// service that looked after them as well would look without end, on the processor that the reaper needs.
func TestServiceLeavesSendingToReaper(t *testing.T) {
	n := New(Config{Engine: engine.Config{Rank: 0, Size: 2, Rand: func() uint64 { return 5 }, Incarnation: 1}})
	tr := &shut{narrow{in: make(chan []byte, 1)}}
	n.Start(doorbell.NewChan(), tr)
	defer n.Close(0, "")
	n.connect(1, Route{Transport: tr})
	r, err := n.Expose("r", make([]byte, 64), 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	tr.in <- wire.Pull{Op: 1, Region: r.ID, Key: r.Key, N: 64}.Append(nil)
	if n.progress(); !n.eng.Blocked() {
		t.Fatal("the answer has left")
	}
	var reaper duty.Waiter
	for _, c := range []struct {
		paused, polls bool
		want          time.Duration
	}{
		{true, true, duty.Tick},
		{true, false, 0},
		{false, false, retry},
		{false, true, retry},
	} {
		n.sending.paused = c.paused
		if c.polls {
			n.duty.Begin(&reaper, 0)
		}
		if d := n.until(duty.Tick); d != c.want {
			t.Errorf("put off %t, a reaper %t: it looks again in %v, not %v", c.paused, c.polls, d, c.want)
		}
		n.duty.Spent(&reaper)
	}
	n.sending.paused = false
}
