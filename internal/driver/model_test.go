//go:build mutants

package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"weft/failure"
	"weft/internal/driver/duty"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
	"weft/internal/interleave"
	"weft/internal/transport"
)

// A model is a Node with all its code, whose goroutines are run one at a time in an
// interleave.Scheduler. Its peer is an engine without a node, its transport a queue in each
// direction, its doorbell a futex or a channel. What it must show: the goroutine of every
// call that has ended is woken, so is that of a context that has ended, no packet lies
// there while goroutines wait and nobody is awake, urgent ones are looked at soon, also
// when nobody waits any more, and nothing touches the transport once Close has returned.
type model struct {
	world *interleave.Scheduler
	n     *Node
	bell  *modelBell
	wire  *modelWire
	peer  *engine.Engine
	ports []*msg.Port // of the peer
	to    []int       // channels to which the peer has still to send
	paced bool        // the peer sends a message only when the one before has been received
	taken int         // messages that have been received
	stop  bool        // the peer has nothing more to do
	gone  bool        // the transport's memory
	ends  map[string]context.Context
	left  int // goroutines of the program that have not ended
	since time.Duration
}

// touch says that the transport or the doorbell is being used.
func (m *model) touch(what string) {
	interleave.Point()
	if m.gone {
		interleave.Fail("%s, when that memory is gone", what)
	}
}

// A modelBell is a doorbell. As a futex it wakes all goroutines that sleep, if its state is
// still what they expect; as a channel it keeps a ring for one goroutine.
type modelBell struct {
	m       *model
	channel bool
	state   transport.State
	token   bool
	sleeps  []*bool // each set when its sleeper has been woken
}

func (b *modelBell) Set(s transport.State) {
	b.m.touch("Doorbell.Set")
	b.state = s
}

func (b *modelBell) State() transport.State {
	b.m.touch("Doorbell.State")
	return b.state
}

func (b *modelBell) Sleep(s transport.State, d time.Duration) {
	b.m.touch("Doorbell.Sleep")
	if b.state != s {
		return
	}
	if b.channel {
		interleave.Block(func() bool { return b.token }, d)
		b.token = false
	} else {
		woken := false
		b.sleeps = append(b.sleeps, &woken)
		interleave.Block(func() bool { return woken }, d)
		b.sleeps = slices.DeleteFunc(b.sleeps, func(p *bool) bool { return p == &woken })
	}
	b.m.touch("Doorbell.Sleep")
}

func (b *modelBell) Ring() {
	b.m.touch("Doorbell.Ring")
	b.ring()
}

func (b *modelBell) ring() {
	b.state = transport.Awake
	b.token = true
	for _, woken := range b.sleeps {
		*woken = true
	}
}

func (b *modelBell) Wake(urgent bool) {
	interleave.Point()
	if b.m.gone || b.state == transport.Awake || b.state == transport.Idle && !urgent {
		return
	}
	b.ring()
}

// A modelWire is the transport.
type modelWire struct {
	transport.Steady

	m       *model
	in, out [][]byte
	room    int  // how many packets the peer leaves in out before it takes them; 0: no limit
	urgent  bool // something urgent is in
	beats   int  // signs of life that were sent
	lent    int
}

func (w *modelWire) Caps() transport.Caps {
	return transport.Caps{Name: "model", MTU: 4096, Reliable: true}
}
func (w *modelWire) Card() string             { return "" }
func (w *modelWire) Dial(int, string) error   { return nil }
func (w *modelWire) PeerMTU(int) int          { return 4096 }
func (w *modelWire) Lane(int) transport.Lane  { return nil }
func (w *modelWire) Memory() transport.Memory { return nil }
func (w *modelWire) MemoryBytes() uint64      { return 0 }
func (w *modelWire) Forget(peer int)          {}

func (w *modelWire) Close() error  { return nil }
func (w *modelWire) Arm()          { w.m.touch("Transport.Arm") }
func (w *modelWire) Pending() bool { w.m.touch("Transport.Pending"); return len(w.in) > 0 }
func (w *modelWire) Release() {
	w.in = w.in[w.lent:]
	w.lent = 0
}
func (w *modelWire) Send(pkts []transport.Out) int {
	w.m.touch("Transport.Send")
	if w.room > 0 {
		pkts = pkts[:min(len(pkts), w.room-len(w.out))]
	}
	for _, p := range pkts {
		if wire.Type(p.Header[0]) == wire.TypeBeat {
			w.beats++
		}
		w.out = append(w.out, append(slices.Clone(p.Header), p.Payload...))
	}
	return len(pkts)
}

func (w *modelWire) Poll(dst []transport.In) int {
	w.m.touch("Transport.Poll")
	w.lent = min(len(w.in), len(dst))
	for i, b := range w.in[:w.lent] {
		dst[i] = transport.In{From: 1, Data: b}
	}
	if w.lent == len(w.in) {
		w.urgent = false
	}
	return w.lent
}

func (w *modelWire) Peek(peer int) (from int, pkt []byte, maybe bool) {
	w.m.touch("Transport.Peek")
	if len(w.in) == 0 || peer == 0 {
		return 0, nil, peer == 0
	}
	return 1, w.in[0], false
}

func (w *modelWire) Took() {
	w.m.touch("Transport.Took")
	if w.in = w.in[1:]; len(w.in) == 0 {
		w.urgent = false
	}
}

// run is the peer: it answers, and sends what it has to send.
func (m *model) run() {
	var pkts [batch]link.Packet
	for sent := 0; ; {
		sends := func() bool { return sent < len(m.to) && (!m.paced || m.taken >= sent) }
		interleave.Block(func() bool { return len(m.wire.out) > 0 || sends() || m.stop }, -1)
		if m.stop {
			return
		}
		if len(m.wire.out) > 0 {
			for _, b := range m.wire.out {
				m.peer.Recv(0, 0, b)
			}
			m.wire.out = nil
			for _, p := range m.ports {
				for b, _ := p.Next(msg.Any); b != nil; b, _ = p.Next(msg.Any) {
					p.Release(b)
				}
			}
		} else {
			if !m.ports[m.to[sent]].Give(0, []byte("message")) && !m.n.Closing() {
				interleave.Fail("the peer cannot send")
			}
			sent++
		}
		for {
			_, k, urgent := m.peer.Output(0, pkts[:])
			if k == 0 {
				break
			}
			for i := range k {
				m.wire.in = append(m.wire.in, append(slices.Clone(pkts[i].Header), pkts[i].Payload...))
			}
			m.peer.Taken(0, 0, k, k, pkts[:])
			if urgent && !m.wire.urgent {
				m.wire.urgent = true
				m.since = m.world.Now()
			}
			m.bell.Wake(urgent)
		}
	}
}

// ask asks the node for a sign of life, and waits for it.
func (m *model) ask() {
	m.wire.in = append(m.wire.in, wire.Beat{Ask: true}.Append(nil))
	m.wire.urgent = true
	m.since = m.world.Now()
	m.bell.Wake(true)
	interleave.Block(func() bool { return m.wire.beats > 0 }, -1)
}

// soon is how long an urgent packet may lie when nobody waits.
const soon = 20 * time.Millisecond

// quiet looks, when nobody can run, whether somebody should.
func (m *model) quiet() error {
	if m.gone || m.n == nil {
		return nil
	}
	for _, c := range m.n.waiting.calls {
		if !c.pending() {
			return fmt.Errorf("a call has ended, and its goroutine sleeps")
		}
	}
	for name, ctx := range m.ends {
		if ctx != nil && ctx.Err() != nil {
			return fmt.Errorf("the context of %s has ended, and its goroutine sleeps", name)
		}
	}
	if len(m.wire.in) > 0 && len(m.n.waiting.calls) > 0 && !m.watched() {
		waits := len(m.n.waiting.calls)
		return fmt.Errorf("a packet lies there, %d goroutines wait, and the doorbell is %v", waits, m.bell.state)
	}
	if m.wire.urgent && m.world.Now() > m.since+soon {
		return fmt.Errorf("an urgent packet lies there for %v, and the doorbell is %v", m.world.Now()-m.since, m.bell.state)
	}
	return nil
}

// program starts a goroutine of the program.
func (m *model) program(f func()) {
	m.left++
	interleave.Go(func() {
		f()
		m.left--
	})
}

// watched reports whether the doorbell may be unarmed although goroutines wait: between the waits of a streak, if the
// service looks soon.
func (m *model) watched() bool {
	n := m.n
	return n.duty.Streak() && n.duty.Service() == duty.Watching && n.duty.Alarm() <= n.now().Add(duty.MaxTick)
}

// receive receives from a channel, as often as the peer sends to it.
func (m *model) receive(name string, ctx context.Context, p *msg.Port, times int) {
	buf := make([]byte, 16)
	for range times {
		m.ends[name] = ctx
		r, c, err := m.n.Receive(ctx, p, msg.Any, buf)
		m.ends[name] = nil
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case errors.Is(err, failure.ErrClosed) && m.n.Closing():
			return
		case err != nil || c != nil || string(buf[:r.N]) != "message":
			interleave.Fail("%s: received %q, %v", name, buf[:r.N], err)
		}
		m.taken++
	}
}
