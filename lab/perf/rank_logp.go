package perf

import (
	"encoding/binary"
	"runtime"
	"time"
)

// The parameters of LogP are measured as in [Culler96]: rank 0 issues requests, computes for a known time after
// each, and takes the replies that have arrived; rank 1 replies to each. T is the time of an issue.
const (
	logpWindow = 64   // requests that may be under way
	logpFew    = 4    // requests in a burst that finds the pipeline empty
	logpRuns   = 1000 // such bursts
	logpMany   = 5000 // requests in a burst that fills it, of short messages over shared memory
)

// maxShort is the longest message in bytes that weft copies when it is sent.
const maxShort = 32 << 10

// An Issue is what rank 0 measured, in ns.
type Issue struct {
	Few    []float64 // T of short bursts: o_s
	Gap    float64   // T of long bursts
	Slow   float64   // T of long bursts with Compute after each request: o_s + o_r + Compute
	D      float64   // Compute, as it took
	RTT    []float64 // of a request and its reply
	OneWay []float64 // from before a send to after its reception, by the clock that both ranks read
}

// logp measures one size. The counts are the same for all of Ways.
func (b *bench) logp(c adapter, src []byte) error {
	few := logpRuns
	many := logpMany
	trips := 2000
	switch size := len(src); {
	case b.spec.Brief:
		few = 3
		many = 70
		trips = 10
	case size >= 1<<20:
		few = 40
		many = 40
		trips = 40
	case size > 1<<17:
		few = 100
		many = 100
		trips = 100
	case b.spec.iterations(size) < 100000: // what is slow
		many = 1000
	}
	l := &issuer{b: b, c: c, src: src, window: logpWindow, few: logpFew}
	if b.spec.Op == "send" && len(src) > maxShort { // a long message is sent when it has been received
		l.window = 1
		l.few = 1
	}
	for range trips / 10 { // caches and rings find their places
		if err := l.trip(); err != nil {
			return err
		}
	}
	if b.p.Rank() == 1 {
		if err := repeat(few*l.few+2*many+trips, l.trip); err != nil {
			return err
		}
		return l.arrivals(trips)
	}
	m, err := l.bursts(few, many)
	if err != nil {
		return err
	}
	for range trips {
		start := time.Now()
		if err := l.trip(); err != nil {
			return err
		}
		m.RTT = append(m.RTT, float64(time.Since(start))-l.clock)
	}
	if m.OneWay, err = l.departures(trips); err != nil {
		return err
	}
	return emit(Sample{Size: len(src), Issue: m, Ops: few*l.few + 2*many + trips})
}

// An issuer issues requests with an adapter.
type issuer struct {
	b     *bench
	c     adapter
	src   []byte
	clock float64 // what it takes to read it, in ns

	window, few int // requests under way, and in a short burst

	chunks []float64
}

// trip is a request and its reply, at either rank.
func (l *issuer) trip() error {
	first := func() error { return l.c.send(l.src) }
	second := l.c.recv
	if l.b.p.Rank() == 1 {
		first, second = second, first
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// bursts measures short bursts, long ones, and long ones with computing between requests.
func (l *issuer) bursts(few, many int) (m *Issue, err error) {
	m = &Issue{}
	l.clock = clockTime()
	for range few {
		ns, err := l.burst(l.few, 0, false)
		if err != nil {
			return nil, err
		}
		m.Few = append(m.Few, ns-l.clock/float64(l.few))
	}
	if m.Gap, err = l.burst(many, 0, true); err != nil {
		return nil, err
	}
	spins := spinsFor(2*m.Gap + 2000)
	m.D = spinTime(spins)
	m.Slow, err = l.burst(many, spins, true)
	return m, err
}

// chunk is how many requests are timed together. The median over chunks ignores a chunk in which other work had the
// processor.
const chunk = 20

// burst issues n requests, and returns the time of one. If take is set, it takes replies while it issues, and at
// most logpWindow requests are under way; the rest it takes afterwards.
func (l *issuer) burst(n, spins int, take bool) (ns float64, err error) {
	open := 0
	since := 0
	chunks := l.chunks[:0]
	last := time.Now()
	for i := range n {
		if err := l.c.send(l.src); err != nil {
			return 0, err
		}
		open++
		spin(spins)
		if take && l.window == 1 {
			if err := l.c.recv(); err != nil {
				return 0, err
			}
			open--
		}
		for take && l.window > 1 {
			ok, err := l.c.ready()
			if err != nil {
				return 0, err
			}
			if ok {
				open--
				break
			}
			if open < l.window {
				break
			}
		}
		if since++; since == chunk || i == n-1 {
			now := time.Now()
			chunks = append(chunks, float64(now.Sub(last))/float64(since))
			last = now
			since = 0
		}
	}
	l.chunks = chunks
	return median(chunks), repeat(open, l.c.recv)
}

// departures sends n messages, each when the last has been answered by other means. It returns how long each took
// by the host's clock, which both ranks read.
func (l *issuer) departures(n int) ([]float64, error) {
	defer l.unanswered()()
	sent := make([]int64, n)
	for i := range sent {
		sent[i] = time.Now().UnixNano()
		if err := l.c.send(l.src); err != nil {
			return nil, err
		}
		if _, _, err := l.b.q.RecvInto(l.b.ctx, nil); err != nil {
			return nil, err
		}
	}
	m, err := l.b.q.Recv(l.b.ctx)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	ns := make([]float64, n)
	for i := range ns {
		ns[i] = float64(int64(binary.LittleEndian.Uint64(m.Data[8*i:]))-sent[i]) - l.clock
	}
	return ns, nil
}

// arrivals is the part of the other rank in departures.
func (l *issuer) arrivals(n int) error {
	defer l.unanswered()()
	var came []byte
	for range n {
		if err := l.c.recv(); err != nil {
			return err
		}
		came = binary.LittleEndian.AppendUint64(came, uint64(time.Now().UnixNano()))
		if err := l.b.q.Send(l.b.ctx, l.b.peer, nil); err != nil {
			return err
		}
	}
	return l.b.q.Send(l.b.ctx, l.b.peer, came)
}

// unanswered keeps handlers from replying until the function that it returns is called.
func (l *issuer) unanswered() func() {
	c, ok := l.c.(*amAdapter)
	if !ok {
		return func() {}
	}
	c.echoes = false
	return func() { c.echoes = true }
}

// spun is the result of spin, so that the compiler leaves nothing out.
var spun uint64

// spin computes n steps without a system call or a look at memory.
func spin(n int) {
	x := spun
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun = x
}

// spinsFor returns how many steps of spin take so many ns.
func spinsFor(ns float64) int {
	const many = 1 << 20
	return max(int(ns*many/spinTime(many)), 1)
}

// spinTime returns how many ns n steps of spin take: the least of several measurements.
func spinTime(n int) float64 {
	least := 0.0
	for i := range 50 {
		start := time.Now()
		spin(n)
		if t := float64(time.Since(start)); i == 0 || t < least {
			least = t
		}
	}
	return least
}

// clockTime returns how many ns it takes to read the clock.
func clockTime() float64 {
	const many = 1000
	runtime.Gosched()
	start := time.Now()
	for range many {
		_ = time.Now()
	}
	return float64(time.Since(start)) / many
}
