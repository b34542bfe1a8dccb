package faulty

import (
	"bytes"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"weft/internal/transport"
)

// Faults says what happens to packets, as probabilities from 0 to 1.
type Faults struct {
	Lose    float64
	Repeat  float64
	Reorder float64 // a packet waits until up to 8 others have passed it, or maxDelay has
	Damage  float64 // a bit is flipped

	Delay time.Duration // of every packet, a little more while all are asleep
}

// Transport is another transport with faults. It implements transport.Transport.
type Transport struct {
	transport.Transport
	faults Faults
	rand   *rand.Rand
	ring   func() // wakes the goroutine that polls
	held   []held
	late   delayed
	lost   atomic.Int64
}

// maxDelay is the longest time for which packets are held back, besides Delay. It holds while
// a goroutine polls or sends: while all are asleep, held packets wait.
const maxDelay = 500 * time.Microsecond

// held is a packet that others overtake.
type held struct {
	out  transport.Out
	left int       // packets that must pass it first
	due  time.Time // when it goes anyhow
}

// New returns t with faults, which the seed decides. Ring wakes the goroutine that polls t. t
// must not be reliable, since with faults it could not keep that promise.
func New(t transport.Transport, f Faults, seed uint64, ring func()) *Transport {
	if t.Caps().Reliable {
		panic("faulty: the transport promises to be reliable")
	}
	return &Transport{
		Transport: t, faults: f, rand: rand.New(rand.NewPCG(seed, 0)), ring: ring, late: delayed{by: f.Delay, ring: ring},
	}
}

// Lost returns how many packets have been lost on purpose. Any goroutine may
// call it.
func (t *Transport) Lost() int64 { return t.lost.Load() }

// Lane returns nil: every packet passes Send.
func (t *Transport) Lane(peer int) transport.Lane { return nil }

// Send sends packets, some of them.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := range pkts {
		if !t.send(&pkts[i]) {
			return i
		}
	}
	for i := range t.held {
		t.held[i].left -= len(pkts)
	}
	t.release()
	return len(pkts)
}

// Poll also lets go of packets that have been held for long enough.
func (t *Transport) Poll(dst []transport.In) int {
	t.release()
	return t.Transport.Poll(dst)
}

func (t *Transport) send(o *transport.Out) bool {
	switch p := t.rand.Float64; {
	case p() < t.faults.Lose:
		t.lost.Add(1)
		return true
	case p() < t.faults.Reorder:
		t.hold(o, 1+t.rand.IntN(8), maxDelay)
		return true
	case p() < t.faults.Repeat:
		t.hold(o, t.rand.IntN(8), maxDelay)
	case p() < t.faults.Damage:
		bad := clone(o)
		all := bad.Header
		if len(bad.Payload) > 0 && t.rand.IntN(2) == 0 {
			all = bad.Payload
		}
		all[t.rand.IntN(len(all))] ^= 1 << t.rand.IntN(8)
		o = &bad
	}
	if t.faults.Delay > 0 {
		t.late.add(o)
		return true
	}
	return t.Transport.Send([]transport.Out{*o}) == 1
}

// hold keeps a packet until enough others have passed it, or for a time, and for
// the delay of the network at least.
func (t *Transport) hold(o *transport.Out, passes int, most time.Duration) {
	if t.faults.Delay > 0 {
		passes = math.MaxInt
		time.AfterFunc(t.faults.Delay+most, t.ring)
	}
	t.held = append(t.held, held{clone(o), passes, time.Now().Add(t.faults.Delay + most)})
}

// release lets go of the packets that enough others have passed, or that have
// waited for long. If the network has no room for one it is lost: that is allowed
// too.
func (t *Transport) release() {
	t.late.release(t.Transport)
	if len(t.held) == 0 {
		return
	}
	keep := t.held[:0]
	now := time.Now()
	for _, h := range t.held {
		if h.left > 0 && now.Before(h.due) {
			keep = append(keep, h)
			continue
		}
		t.Transport.Send([]transport.Out{h.out})
	}
	t.held = keep
}

func clone(o *transport.Out) transport.Out {
	c := *o
	c.Header = bytes.Clone(o.Header)
	c.Payload = bytes.Clone(o.Payload)
	return c
}
