//go:build mutants

package driver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
	"weft/internal/interleave"
	"weft/internal/mutant"
	"weft/internal/transport"
)

// A model is a Node with all its code, whose goroutines are run one at a time in an
// interleave.World. Its peer is an engine without a node, its transport a queue in each
// direction, its doorbell a futex or a channel. What it must show: the goroutine of every
// call that has ended is woken, so is that of a context that has ended, no packet lies
// there while goroutines wait and nobody is awake, urgent ones are looked at soon, also
// when nobody waits any more, and nothing touches the transport once Close has returned.
type model struct {
	world *interleave.World
	n     *Node
	bell  *modelBell
	wire  *modelWire
	peer  *engine.Engine
	ports []*msg.Port // of the peer
	to    []int       // channels to which the peer has still to send
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

// A modelBell is a doorbell. As a futex it wakes all who sleep if its state is still what
// they expect; as a channel it keeps a ring for one.
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
func (w *modelWire) Release()      { w.in, w.lent = w.in[w.lent:], 0 }
func (w *modelWire) Send(pkts []transport.Out) int {
	w.m.touch("Transport.Send")
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

// run is the peer: it answers, and sends what it has to send.
func (m *model) run() {
	var pkts [batch]link.Packet
	for sent := 0; ; {
		interleave.Block(func() bool { return len(m.wire.out) > 0 || sent < len(m.to) || m.stop }, -1)
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
	if len(m.wire.in) > 0 && len(m.n.waiting.calls) > 0 {
		return fmt.Errorf("a packet lies there, %d goroutines wait, and the doorbell is %v", len(m.n.waiting.calls), m.bell.state)
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
		case errors.Is(err, link.ErrClosed) && m.n.Closing():
			return
		case err != nil || c != nil || string(buf[:r.N]) != "message":
			interleave.Fail("%s: received %q, %v", name, buf[:r.N], err)
		}
	}
}

// A scenario is what the program's goroutines do.
type scenario struct {
	wait     Waiting
	channels int  // each with a receiver
	channel  bool // the doorbell
	messages int  // for each receiver
	cancels  bool // the contexts of some receivers end
	commits  int  // goroutines that reserve and commit
	tries    int  // goroutines that look for messages of their own rank
	flushes  int
	ends     bool // the node is closed while they are at it
}

func (s scenario) run(w *interleave.World) error {
	m := &model{world: w, ends: map[string]context.Context{}}
	m.bell = &modelBell{m: m, channel: s.channel}
	m.wire = &modelWire{m: m}
	w.Quiet = m.quiet
	return w.Run(func() { s.start(m) })
}

func (s scenario) start(m *model) {
	one := func() uint64 { return 1 }
	m.peer = engine.New(engine.Config{Rank: 1, Size: 2, Job: 1, Incarnation: 1, Rand: one})
	m.peer.Connect(0, 0, engine.Path{MTU: 4096})
	n := New(Config{
		Engine: engine.Config{Rank: 0, Size: 2, Job: 1, Incarnation: 1, Rand: one}, Wait: s.wait,
		Route: func(int) (Route, error) { return Route{Transport: m.wire}, nil },
	})
	m.n = n
	n.Start(m.bell, m.wire)
	n.connect(1, Route{Transport: m.wire})
	var ports []*msg.Port
	for i := range s.channels {
		p, err := n.Open(uint16(i), msg.Config{})
		q, err2 := m.peer.Msg.Open(uint16(i), msg.Config{})
		if err != nil || err2 != nil {
			interleave.Fail("Open: %v, %v", err, err2)
		}
		ports = append(ports, p)
		m.ports = append(m.ports, q)
		for range s.messages {
			m.to = append(m.to, i)
		}
	}
	interleave.Go(m.run)
	ctx, cancel := context.WithCancel(context.Background())
	for i, p := range ports {
		if i < s.channels-1 || !s.cancels {
			m.program(func() { m.receive(fmt.Sprint("receiver ", i), context.Background(), p, s.messages) })
			continue
		}
		m.program(func() { m.receive("the one that is given up", ctx, p, s.messages+1) })
		m.program(func() {
			interleave.Gosched()
			cancel()
		})
	}
	for range s.commits {
		m.program(func() {
			if b := n.Reserve(ports[0], 1, 7); b != nil {
				copy(b.Data(), "message")
				_ = n.Commit(ports[0], 1, b, b.Use(), len(b.Data()))
			}
		})
	}
	for range s.tries {
		m.program(func() { n.TryReceive(ports[0], 0, nil) })
	}
	for range s.flushes {
		m.program(func() {
			c := NewCall()
			c.Msg.Kind = msg.Flush
			c.Msg.Peer = msg.Any
			_ = n.Message(context.Background(), ports[0], c)
			c.Free()
		})
	}
	if !s.ends {
		interleave.Block(func() bool { return m.left == 0 }, -1)
		m.ask() // nobody waits, but the service does
	}
	n.Quit()
	n.Drain(time.Millisecond)
	for _, p := range ports {
		n.ClosePort(p)
	}
	n.Close(time.Millisecond)
	m.gone = true
	if _, _, err := n.Receive(context.Background(), ports[0], msg.Any, nil); !errors.Is(err, link.ErrClosed) {
		interleave.Fail("Receive of a closed node: %v", err)
	}
	n.Reserve(ports[0], 1, 7)
	interleave.Block(func() bool { return m.left == 0 }, -1)
	m.stop = true
	cancel()
}

// explore runs all interleavings in which up to so many times a goroutine is kept from
// going on that could, and returns how many there were.
func explore(s scenario, preemptions, most int) (runs int, err error) {
	type choice struct {
		at, n int
		stays bool
	}
	var path []choice
	for runs = 1; ; runs++ {
		depth := 0
		err := s.run(&interleave.World{Choose: func(n int, stays bool) int {
			if depth == len(path) {
				path = append(path, choice{0, n, stays})
			}
			c := path[depth]
			depth++
			if c.n != n {
				panic("the model does not do the same again")
			}
			return c.at
		}})
		if err != nil {
			return runs, err
		}
		used := 0
		for _, c := range path {
			if c.stays && c.at > 0 {
				used++
			}
		}
		for len(path) > 0 {
			c := &path[len(path)-1]
			if c.stays && c.at > 0 {
				used--
			}
			if c.at+1 < c.n && (!c.stays || used < preemptions) {
				c.at++
				break
			}
			path = path[:len(path)-1]
		}
		if len(path) == 0 || runs == most {
			return runs, nil
		}
	}
}

// random runs a scenario that the seed draws, as the seed decides.
func random(seed uint64) (scenario, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	s := scenario{
		wait:     []Waiting{{}, {Yields: 1}, {Yields: 3}, {Budget: 2 * time.Microsecond}, {Yields: 2, InProcess: true}}[r.IntN(5)],
		channels: 1 + r.IntN(5), messages: 1 + r.IntN(4), commits: r.IntN(4), tries: r.IntN(4), flushes: r.IntN(2),
		cancels: r.IntN(2) == 0, ends: r.IntN(3) == 0, channel: r.IntN(3) == 0,
	}
	s.channel = s.channel || s.wait.InProcess
	change := []float64{0.02, 0.1, 0.3, 0.6}[r.IntN(4)]
	hurry := []float64{0, 0, 0.01, 0.2}[r.IntN(4)]
	return s, s.run(&interleave.World{
		Choose: func(n int, stays bool) int {
			if stays && r.Float64() > change {
				return 0
			}
			return r.IntN(n)
		},
		Hurry: func() bool { return hurry > 0 && r.Float64() < hurry },
	})
}

func TestModelSearched(t *testing.T) {
	for _, c := range []struct {
		scenario
		preemptions int
	}{
		{scenario{channels: 1, messages: 1}, 3},
		{scenario{channels: 1, messages: 1, wait: Waiting{Yields: 1}}, 1},
		{scenario{channels: 2, messages: 1}, 1},
		{scenario{channels: 2, messages: 1, commits: 1}, 0},
		{scenario{channels: 1, messages: 1, commits: 1}, 1},
		{scenario{channels: 1, messages: 1, cancels: true}, 1},
		{scenario{channels: 1, messages: 1, commits: 1, ends: true}, 1},
		{scenario{channels: 1, messages: 1, channel: true, wait: Waiting{Yields: 1, InProcess: true}}, 1},
	} {
		const most = 200000
		runs, err := explore(c.scenario, c.preemptions, most)
		t.Logf("%+v: %d interleavings", c, runs)
		switch {
		case err != nil:
			t.Errorf("%+v: interleaving %d: %v", c, runs, err)
		case runs == most:
			t.Errorf("%+v: %d interleavings, and not all", c, runs)
		}
	}
}

var seeds = flag.Uint64("seeds", 30000, "how many to run")

func TestModelBySeed(t *testing.T) {
	for seed := range *seeds {
		if s, err := random(seed); err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, s, err)
		}
	}
}

// What was wrong once, planted again, is found.
func TestModelBites(t *testing.T) {
	for _, bug := range []mutant.Bug{mutant.ArmedOverRing, mutant.NoRest, mutant.UsedAfterClose, mutant.DutyForgotten} {
		found := false
		for seed := range uint64(2000) {
			mutant.Plant(bug)
			s, err := random(seed)
			if found = err != nil; found {
				t.Logf("%v: seed %d: %+v: %v", bug, seed, s, err)
				break
			}
		}
		if !found {
			t.Errorf("%v is not found", bug)
		}
	}
	mutant.Plant(mutant.None)
}
