package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"

	"weft"
)

// self is weft as a System.
type self struct{}

// Weft is the system with which the others are compared.
var Weft System = self{}

func (self) Name() string         { return "weft" }
func (self) Absent() string       { return "" }
func (self) Supports(s Spec) bool { return true }

// Run runs a test of two ranks, or of s.N ranks where the test says how many, as a job of this executable. The
// programs of NAS are executables of their own.
func (self) Run(ctx context.Context, s Spec) ([]Sample, error) {
	if s.Test == "nas" {
		return runNAS(ctx, s)
	}
	n := 2
	if s.Test == "alltoall" || s.Test == "barrier" || s.Test == "lock" || s.Test == "gather" {
		n = s.N
	}
	return runRanks(ctx, "weft", n, s)
}

// overUDP is weft over UDP, for comparisons with other transports.
type overUDP struct{ self }

func (overUDP) Name() string { return "udp" }

func (u overUDP) Run(ctx context.Context, s Spec) ([]Sample, error) {
	s.Transport = "udp"
	return u.self.Run(ctx, s)
}

// A bench is one rank of a measurement of weft.
type bench struct {
	ctx  context.Context
	p    *weft.Proc
	q    *weft.Port
	spec Spec
	peer int
	win  *weft.Region
	far  *weft.Remote
	took time.Duration
	seen uint64 // the last word that was awaited
}

// weftRank is the main function of a rank: it joins the job, measures, and ends the traffic beside the measurement
// (Spec.Bulk) only when the measurement is over.
func weftRank(s Spec) error {
	ctx := context.Background()
	p, err := weft.Join(ctx, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	end, err := beside(ctx, p, s)
	if err != nil {
		return err
	}
	if err := measureRank(ctx, p, s); err != nil {
		return err
	}
	return end()
}

// measureRank dispatches to the test. Tests of libraries, and those with a message pattern of their own, open what
// they need; all others share port 1, and a region that holds the longest message and 64 bytes for the words that
// announce messages.
func measureRank(ctx context.Context, p *weft.Proc, s Spec) (err error) {
	if s.Test == "barrier" || s.Test == "lock" {
		return coordinate(ctx, p, s)
	}
	b := &bench{ctx: ctx, p: p, spec: s, peer: 1 - p.Rank()}
	b.q, err = p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if s.ofLibraries() {
		return b.library()
	}
	switch s.Test {
	case "flow":
		got, err := flowRank(ctx, p, s)
		if got != nil {
			return errors.Join(err, emit(Sample{Flow: got}))
		}
		return err
	case "alltoall":
		return b.allToAll()
	case "idle":
		return b.idle()
	case "buffers":
		return b.buffers()
	case "gather":
		return b.gather(s.Sizes[0])
	case "incast":
		return b.incast()
	}
	largest := 8
	for _, size := range s.Sizes {
		largest = max(largest, size)
	}
	if b.win, err = p.OpenRegion(ctx, "perf", largest+64, nil); err != nil {
		return err
	}
	if b.far, err = b.win.At(ctx, b.peer); err != nil {
		return err
	}
	for _, size := range s.Sizes {
		if err := b.measure(size); err != nil {
			return fmt.Errorf("%s %s %d: %w", s.Test, s.Op, size, err)
		}
		if err := b.meet(); err != nil {
			return err
		}
	}
	return nil
}

// meet waits for the other rank.
func (b *bench) meet() error {
	if err := b.q.Send(b.ctx, b.peer, nil); err != nil {
		return err
	}
	m, err := b.q.Recv(b.ctx)
	if err != nil {
		return err
	}
	m.Release()
	return nil
}

// buffer returns memory that has been written: untouched memory may all be one page of zeros.
func (b *bench) buffer(size int) (buf []byte, err error) {
	buf = make([]byte, size)
	if b.spec.Alloc {
		if buf, err = b.p.Alloc(size); err != nil {
			return nil, err
		}
	}
	for i := range buf {
		buf[i] = 1
	}
	return buf, nil
}

// measure measures one size. The buffers are made, and the garbage is collected, before the time begins. Both ranks
// call it with the same size.
func (b *bench) measure(size int) error {
	src, err := b.buffer(size)
	if err != nil {
		return err
	}
	dst, err := b.buffer(size)
	if err != nil {
		return err
	}
	runtime.GC()
	if b.spec.Test == "ipush" {
		return b.ipush(size)
	}
	if b.spec.patterned() {
		return b.goroutines(size)
	}
	switch {
	case b.spec.Test == "latency" && b.spec.Op == "send":
		return b.pingPong(size, func() error { return b.send(src) }, func() error { return b.recv(dst) })
	case b.spec.Test == "latency" && b.spec.Op == "pull":
		return b.pull(size, dst)
	case b.spec.Test == "latency":
		return b.writePingPong(size, src)
	case b.spec.Op == "send":
		return b.streamMessages(size, src, dst)
	default:
		return b.streamWrites(size, src)
	}
}

// send sends a message to the other rank: by Send, which copies src, or with Spec.InPlace from a draft in the send
// buffer, whose content does not matter.
func (b *bench) send(src []byte) error {
	if !b.spec.InPlace {
		return b.q.Send(b.ctx, b.peer, src)
	}
	d, err := b.q.Reserve(b.ctx, b.peer, len(src))
	if err != nil {
		return err
	}
	return d.Commit(b.ctx)
}

// recv takes the next message: into dst, or with Spec.InPlace where it lies.
func (b *bench) recv(dst []byte) error {
	if !b.spec.InPlace {
		_, _, err := b.q.RecvInto(b.ctx, dst)
		return err
	}
	m, err := b.q.Recv(b.ctx)
	if err == nil {
		m.Release()
	}
	return err
}

// group is how many round trips are timed together for the median, since reading the clock takes a third of the
// time of a short round trip. The tails are of single round trips.
const group = 16

// pingPong measures round trips; rank 0 keeps the time. Both ranks run the same number: a tenth to warm up, then
// one by one, then in groups.
func (b *bench) pingPong(size int, send, recv func() error) error {
	n := b.spec.iterations(size)
	if b.p.Rank() == 1 {
		return repeat(n/10+n+n/group*group, func() error {
			if err := recv(); err != nil {
				return err
			}
			return send()
		})
	}
	round := func() error {
		if err := send(); err != nil {
			return err
		}
		return recv()
	}
	if err := repeat(n/10, round); err != nil {
		return err
	}
	singles, err := timed(n, 1, round)
	if err != nil {
		return err
	}
	groups, err := timed(n/group, group, round)
	if err != nil {
		return err
	}
	return emit(Sample{Size: size, NS: singles, Groups: groups, Ops: 2 * n})
}

// repeat calls f n times, or until it fails.
func repeat(n int, f func() error) error {
	for range n {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// timed returns half the time of a round, n times, each the mean of several rounds.
func timed(n, each int, round func() error) ([]float64, error) {
	ns := make([]float64, n)
	start := time.Now()
	last := time.Since(start)
	for i := range ns {
		for range each {
			if err := round(); err != nil {
				return nil, err
			}
		}
		now := time.Since(start)
		ns[i] = float64(now-last) / float64(2*each)
		last = now
	}
	return ns, nil
}

// iterations returns how many round trips to measure: the same for all systems but sockets, for which fewer are
// enough.
func (s Spec) iterations(size int) int {
	n := 100000
	switch {
	case s.Brief:
		n = 2 * group
	case s.Figure == "p99":
		n = 2000
	case s.Blocked || s.Interrupted || s.Transport == "udp" || s.Transport == "tcp" || s.Transport == "eth":
		n = 5000
	case size > 1<<18:
		n = 500
	case size > 1<<12:
		n = 20000
	}
	return n
}

// writePingPong writes into the memory of the peer, which polls.
func (b *bench) writePingPong(size int, src []byte) error {
	off := size - min(size, 8)
	var turn uint64
	write := func() error {
		turn++
		if size >= 8 {
			binary.LittleEndian.PutUint64(src[off:], turn)
		}
		if b.spec.Op == "put" {
			return b.far.Put(0, src)
		}
		if size <= 8 {
			return b.far.Push(b.ctx, 0, src)
		}
		if err := b.far.Push(b.ctx, 0, src[:off]); err != nil {
			return err
		}
		return b.far.Push(b.ctx, off, src[off:])
	}
	if size%8 != 0 || size < 8 {
		return fmt.Errorf("the size must be a multiple of 8")
	}
	var seen uint64
	poll := func() (err error) {
		seen, err = b.win.Await(b.ctx, off, seen)
		return err
	}
	b.win.Store(off, 0)
	if err := b.meet(); err != nil {
		return err
	}
	return b.pingPong(size, write, poll)
}

// pull measures whole reads: request and data.
func (b *bench) pull(size int, dst []byte) error {
	if b.p.Rank() == 1 {
		return nil
	}
	n := b.spec.iterations(size)
	ns := make([]float64, n)
	start := time.Now()
	last := time.Since(start)
	for i := range ns {
		if err := b.far.Pull(b.ctx, dst, 0); err != nil {
			return err
		}
		now := time.Since(start)
		ns[i] = float64(now - last)
		last = now
	}
	return emit(Sample{Size: size, NS: ns, Ops: n})
}
