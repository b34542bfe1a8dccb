package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"slices"
	"sync"
	"time"

	"weft"
)

// Patterns are the ways in which the goroutines of a program share its messages, for latency with several
// goroutines. In all of them a client sends a message and waits for the answer.
//
//	direct   each client has a server goroutine of its own, which receives and answers
//	handoff  one server goroutine receives, and passes requests by a channel to another, which answers
//	pool     as many server goroutines as clients receive from the same port, and answer
//	rpc      net/rpc: its server starts a new goroutine for each call, and the client has one
//	         goroutine that receives for all
var Patterns = []string{"direct", "handoff", "pool", "rpc"}

// patterned reports whether the test is one of goroutines.
func (s Spec) patterned() bool { return s.Test == "latency" && s.Pattern != "" }

// The channels of requests and answers: client i's are i beyond these.
const (
	requests = 100
	answers  = 1000
)

// goroutines runs a rank's part of a pattern over ports. A message begins with the number of its client.
func (b *bench) goroutines(size int) error {
	if b.spec.Pattern == "rpc" {
		return b.overRPC(size)
	}
	n := b.spec.Goroutines
	asked := make([]*weft.Port, n)
	answered := make([]*weft.Port, n)
	for i := range n {
		var err error
		if b.spec.Pattern == "direct" || i == 0 {
			asked[i], err = b.p.OpenPort(requests+i, nil)
		} else {
			asked[i] = asked[0]
		}
		if err != nil {
			return err
		}
		if answered[i], err = b.p.OpenPort(answers+i, nil); err != nil {
			return err
		}
	}
	defer func() {
		for i := range n {
			asked[i].Close()
			answered[i].Close()
		}
	}()
	if err := b.meet(); err != nil {
		return err
	}
	if b.p.Rank() == 0 {
		return b.spec.clients(size, func(i int, buf []byte) error {
			if err := asked[i].Send(b.ctx, 1, buf); err != nil {
				return err
			}
			_, _, err := answered[i].RecvInto(b.ctx, buf)
			return err
		})
	}
	return b.serve(size, asked, answered)
}

// serve runs the server goroutines of rank 1.
func (b *bench) serve(size int, asked, answered []*weft.Port) error {
	n := b.spec.Goroutines
	answer := func(q *weft.Port, hand func(int, []byte) error) error {
		buf := make([]byte, size)
		for range b.spec.rounds() * n / len(slices.Compact(slices.Clone(asked))) {
			if _, _, err := q.RecvInto(b.ctx, buf); err != nil {
				return err
			}
			if err := hand(int(binary.LittleEndian.Uint32(buf)), buf); err != nil {
				return err
			}
		}
		return nil
	}
	send := func(i int, buf []byte) error { return answered[i].Send(b.ctx, 0, buf) }
	switch b.spec.Pattern {
	case "handoff":
		hands := newHands(n, b.spec.rounds(), send)
		err := answer(asked[0], hands.give)
		return errors.Join(err, hands.wait())
	case "pool":
		return together(n, func(int) error {
			buf := make([]byte, size)
			for range b.spec.rounds() {
				if _, _, err := asked[0].RecvInto(b.ctx, buf); err != nil {
					return err
				}
				if err := send(int(binary.LittleEndian.Uint32(buf)), buf); err != nil {
					return err
				}
			}
			return nil
		})
	default:
		return together(n, func(i int) error { return answer(asked[i], send) })
	}
}

// hands are goroutines, one for each client, that answer the requests passed to them.
type hands struct {
	to    []chan []byte
	ended chan error
}

// newHands starts the goroutines. Each answers rounds requests, and then ends. A client has one request under way,
// so a channel with room for one never blocks the goroutine that receives.
func newHands(n, rounds int, send func(i int, buf []byte) error) *hands {
	h := &hands{to: make([]chan []byte, n), ended: make(chan error, 1)}
	for i := range h.to {
		h.to[i] = make(chan []byte, 1)
	}
	go func() {
		h.ended <- together(n, func(i int) error {
			for range rounds {
				if err := send(i, <-h.to[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	return h
}

// give passes a message on. A client has one message under way at a time.
func (h *hands) give(i int, buf []byte) error {
	h.to[i] <- append([]byte(nil), buf...)
	return nil
}

// wait waits until every request has been answered.
func (h *hands) wait() error { return <-h.ended }

// together runs n goroutines, and returns their errors joined.
func together(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// rounds returns how many round trips each goroutine makes, warming up included.
func (s Spec) rounds() int { return max(s.total()/s.Goroutines, 20) / 10 * 11 }

// total is how many round trips all goroutines make.
func (s Spec) total() int { return min(s.iterations(s.Sizes[0]), 20000) }

// clients runs the clients. The figure is the time of all round trips divided by twice their number: with one
// client, half a round trip.
func (s Spec) clients(size int, call func(i int, buf []byte) error) error {
	n := s.Goroutines
	each := s.rounds() / 11 * 10
	bufs := make([][]byte, n)
	for i := range bufs {
		bufs[i] = make([]byte, size)
		binary.LittleEndian.PutUint32(bufs[i], uint32(i))
	}
	run := func(rounds int) error {
		return together(n, func(i int) error {
			return repeat(rounds, func() error { return call(i, bufs[i]) })
		})
	}
	if err := run(s.rounds() - each); err != nil {
		return err
	}
	const parts = 10
	var groups []float64
	for range parts {
		start := time.Now()
		if err := run(each / parts); err != nil {
			return err
		}
		groups = append(groups, float64(time.Since(start))/float64(2*n*(each/parts)))
	}
	return emit(Sample{Size: size, Groups: groups, Ops: 2 * n * each})
}

// An Echo is the service of the rpc pattern.
type Echo struct{}

// Back returns its argument.
func (Echo) Back(in []byte, out *[]byte) error {
	*out = in
	return nil
}

// callRPC runs the clients of the rpc pattern, all over one connection.
func (s Spec) callRPC(size int, c io.ReadWriteCloser) error {
	client := rpc.NewClient(c)
	defer client.Close()
	return s.clients(size, func(i int, buf []byte) error {
		var back []byte
		return client.Call("Echo.Back", buf, &back)
	})
}

// serveRPC serves a connection until it ends.
func serveRPC(c io.ReadWriteCloser) error {
	s := rpc.NewServer()
	if err := s.Register(Echo{}); err != nil {
		return err
	}
	s.ServeConn(c)
	return nil
}

// overRPC runs net/rpc over one port: rank 0 has the clients, rank 1 the server.
func (b *bench) overRPC(size int) error {
	q, err := b.p.OpenPort(requests, nil)
	if err != nil {
		return err
	}
	defer q.Close()
	if err := b.meet(); err != nil {
		return err
	}
	c := &portStream{b: b, q: q}
	if b.p.Rank() == 0 {
		return b.spec.callRPC(size, c)
	}
	return serveRPC(c)
}

// A portStream is a connection over a port: each Write is a message, and an empty message is the end.
type portStream struct {
	b    *bench
	q    *weft.Port
	m    weft.Message
	rest []byte
}

func (s *portStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		s.m.Release()
		var err error
		if s.m, err = s.q.RecvFrom(s.b.ctx, s.b.peer); err != nil {
			return 0, err
		}
		if s.rest = s.m.Data; len(s.rest) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *portStream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return len(p), s.q.Send(s.b.ctx, s.b.peer, p)
}

func (s *portStream) Close() error { return s.q.Send(s.b.ctx, s.b.peer, nil) }

// socketCrowd runs a rank's part of a pattern over sockets, with a connection for each client.
func socketCrowd(conns []net.Conn, rank int, s Spec, size int) error {
	if s.Pattern == "rpc" {
		if rank == 0 {
			return s.callRPC(size, conns[0])
		}
		return serveRPC(conns[0])
	}
	if rank == 0 {
		return s.clients(size, func(i int, buf []byte) error {
			if _, err := conns[i].Write(buf); err != nil {
				return err
			}
			_, err := io.ReadFull(conns[i], buf)
			return err
		})
	}
	send := func(i int, buf []byte) error { _, err := conns[i].Write(buf); return err }
	hand := send
	wait := func() error { return nil }
	if s.Pattern == "handoff" {
		h := newHands(len(conns), s.rounds(), send)
		hand = h.give
		wait = h.wait
	}
	err := together(len(conns), func(i int) error {
		buf := make([]byte, size)
		for range s.rounds() {
			if _, err := io.ReadFull(conns[i], buf); err != nil {
				return err
			}
			if err := hand(i, buf); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, wait())
}

// CheckPattern completes the parts of a spec that concern goroutines, or returns an error that says what is wrong.
func (s *Spec) CheckPattern() error {
	if s.Goroutines == 0 && s.Pattern == "" {
		return nil
	}
	const most = 800
	s.Goroutines = max(s.Goroutines, 1)
	if s.Pattern == "" {
		s.Pattern = "direct"
	}
	switch {
	case !slices.Contains(Patterns, s.Pattern):
		return fmt.Errorf("perf: -pattern %q: must be direct, handoff, pool or rpc", s.Pattern)
	case s.Goroutines > most:
		return fmt.Errorf("perf: -goroutines %d: must be from 1 to %d", s.Goroutines, most)
	case s.Op != "send":
		return fmt.Errorf("perf: -pattern %s goes with -op send only", s.Pattern)
	}
	for _, size := range s.Sizes {
		if size < 8 || size > 32<<10 {
			return fmt.Errorf("perf: -size %d: with -goroutines or -pattern it must be from 8 to %d", size, 32<<10)
		}
	}
	return nil
}
