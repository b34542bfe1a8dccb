//go:build mutants

package driver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
)

// A scenario is what the program's goroutines do.
type scenario struct {
	wait     Waiting
	channels int  // each with a receiver
	channel  bool // the doorbell
	network  bool // a doorbell that is costly to arm
	paced    bool // no message comes before the one before has been received
	room     int  // packets that the transport takes before the peer has looked; 0: no limit
	messages int  // for each receiver
	cancels  bool // the contexts of some receivers end
	commits  int  // goroutines that reserve and commit
	tries    int  // goroutines that look for messages of their own rank
	flushes  int
	ends     bool // the node is closed while they are at it
}

func (s scenario) run(w *interleave.Scheduler) error {
	m := &model{world: w, ends: map[string]context.Context{}, paced: s.paced}
	m.bell = &modelBell{m: m, channel: s.channel}
	m.wire = &modelWire{m: m, room: s.room}
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
	n.transports.network = s.network
	n.connect(1, Route{Transport: m.wire})
	ports := s.open(m)
	interleave.Go(m.run)
	ctx, cancel := context.WithCancel(context.Background())
	s.receivers(ctx, cancel, m, ports)
	s.others(m, ports)
	if !s.ends {
		interleave.Block(func() bool { return m.left == 0 }, -1)
		m.ask() // no goroutine waits, but the service does
	}
	s.close(m, ports)
	cancel()
}

// open opens the channels on both sides.
func (s scenario) open(m *model) (ports []*msg.Port) {
	for i := range s.channels {
		p, err := m.n.Open(uint16(i), msg.Config{})
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
	return ports
}

// receivers starts a goroutine for each channel, which receives its messages.
func (s scenario) receivers(ctx context.Context, cancel func(), m *model, ports []*msg.Port) {
	for i, p := range ports {
		if i < s.channels-1 || !s.cancels {
			m.program(func() { m.receive(fmt.Sprint("receiver ", i), context.Background(), p, s.messages) })
			continue
		}
		m.program(func() { m.receive("the receive that is given up", ctx, p, s.messages+1) })
		m.program(func() {
			interleave.Gosched()
			cancel()
		})
	}
}

// others starts the goroutines that do something else than to receive.
func (s scenario) others(m *model, ports []*msg.Port) {
	n := m.n
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
}

// close closes the node, and uses it once more afterwards.
func (s scenario) close(m *model, ports []*msg.Port) {
	n := m.n
	n.Quit()
	n.Drain(context.Background(), time.Millisecond)
	for _, p := range ports {
		n.ClosePort(p)
	}
	n.Close(time.Millisecond, "")
	m.gone = true
	if _, _, err := n.Receive(context.Background(), ports[0], msg.Any, nil); !errors.Is(err, failure.ErrClosed) {
		interleave.Fail("Receive of a closed node: %v", err)
	}
	n.Reserve(ports[0], 1, 7)
	interleave.Block(func() bool { return m.left == 0 }, -1)
	m.stop = true
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
		err := s.run(&interleave.Scheduler{Choose: func(n int, stays bool) int {
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
	waits := []Waiting{
		{}, {Yields: 1}, {Yields: 3}, {Budget: 2 * time.Microsecond}, {Yields: 2, InProcess: true},
	}
	s := scenario{
		wait:     waits[r.IntN(len(waits))],
		channels: 1 + r.IntN(5), messages: 1 + r.IntN(4), commits: r.IntN(4), tries: r.IntN(4), flushes: r.IntN(2),
		cancels: r.IntN(2) == 0, ends: r.IntN(3) == 0, channel: r.IntN(3) == 0, network: r.IntN(2) == 0,
	}
	if seed%4 == 0 {
		s.room = 1 + int(seed/4%3)
	}
	s.channel = s.channel || s.wait.InProcess
	if s.network {
		s.wait.Yields += r.IntN(12) // waits that end while they poll
		s.messages += r.IntN(8)
		s.paced = r.IntN(2) == 0 && !s.cancels // which leaves messages behind
		s.wait.InProcess = r.IntN(2) == 0      // no goroutine sleeps on the doorbell
		s.channel = s.channel || s.wait.InProcess
	}
	change := []float64{0.02, 0.1, 0.3, 0.6}[r.IntN(4)]
	hurry := []float64{0, 0, 0.01, 0.2}[r.IntN(4)]
	return s, s.run(&interleave.Scheduler{
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
		{scenario{
			channels: 2, messages: 2, network: true, paced: true, channel: true,
			wait: Waiting{Yields: 1, InProcess: true},
		}, 1},
		{scenario{channels: 2, messages: 1, commits: 1}, 0},
		{scenario{channels: 1, messages: 1, commits: 1}, 1},
		{scenario{channels: 1, messages: 1, cancels: true}, 1},
		{scenario{channels: 1, messages: 1, commits: 1, ends: true}, 1},
		{scenario{channels: 1, messages: 1, channel: true, wait: Waiting{Yields: 1, InProcess: true}}, 1},
		{scenario{channels: 1, commits: 2, room: 1}, 0},
		{scenario{channels: 1, commits: 2, room: 1, ends: true}, 0},
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
