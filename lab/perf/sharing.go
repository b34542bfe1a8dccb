package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"weft/internal/launch"
	"weft/internal/sys"
)

// A Sharing is how the ranks of a job and TCP connections share the link to one host. All figures are 10^6 bytes
// per second.
type Sharing struct {
	Algorithm string    `json:"algorithm"` // by which TCP controls congestion
	Flows     int       `json:"flows"`     // TCP connections
	TCPAlone  float64   `json:"tcp_alone_mb_s"`
	WeftAlone float64   `json:"weft_alone_mb_s"`
	TCP       float64   `json:"tcp_mb_s"`   // all beside weft
	Weft      float64   `json:"weft_mb_s"`  // beside TCP
	Ranks     []float64 `json:"ranks_mb_s"` // of WeftAlone, each rank's
}

// An Interval is the time in which rank 0 counted what each other rank sent.
type Interval struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Bytes []uint64  `json:"bytes"`
}

// MeasureSharing measures for a time each: all ranks but the first sending to it, some TCP connections from the second
// host to the first, and both at once. The connections control congestion by an algorithm of the kernel, such as cubic.
// It needs a lab of three hosts or more whose switch has a rate.
func MeasureSharing(ctx context.Context, s Spec, algorithm string, flows int, each time.Duration) (r Sharing, err error) {
	r.Algorithm = algorithm
	r.Flows = flows
	hosts, err := launch.LabHosts()
	if err == nil && len(hosts) < 2 {
		err = errors.New("weftlab perf: sharing is measured between the hosts of a lab: " +
			"weftlab lab -hosts 3 -rate 200 -- weftlab perf sharing")
	}
	if err != nil {
		return r, err
	}
	s.Test = "incast"
	s.For = each
	alone, err := s.incast(ctx)
	if err != nil {
		return r, err
	}
	for _, n := range alone.Bytes {
		r.Ranks = append(r.Ranks, alone.rate(n))
		r.WeftAlone += alone.rate(n)
	}
	var all []*flow
	for range flows {
		f, err := startFlow(hosts[1], hosts[0], algorithm)
		if err != nil {
			return r, err
		}
		defer func() { _ = f.end() }()
		all = append(all, f)
	}
	start := time.Now()
	select {
	case <-time.After(each):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	end := time.Now()
	for _, f := range all {
		r.TCPAlone += f.between(start, end)
	}
	beside, err := s.incast(ctx)
	if err != nil {
		return r, err
	}
	for _, n := range beside.Bytes {
		r.Weft += beside.rate(n)
	}
	for _, f := range all {
		r.TCP += f.between(beside.Start, beside.End)
	}
	return r, nil
}

// rate returns the rate of so many bytes in the interval, in 10^6 bytes per second.
func (i Interval) rate(bytes uint64) float64 {
	return float64(bytes) / i.End.Sub(i.Start).Seconds() / 1e6
}

// incast runs the job, and returns what rank 0 counted.
func (s Spec) incast(ctx context.Context) (i Interval, err error) {
	samples, err := runRanks(ctx, "weft", s.N, s)
	if err != nil {
		return i, err
	}
	if len(samples) != 1 || samples[0].Interval == nil {
		return i, fmt.Errorf("weftlab perf: %d samples where one is expected", len(samples))
	}
	return *samples[0].Interval, nil
}

// incast is one rank: the first counts, the others send for a time.
func (b *bench) incast() error {
	if err := b.awaitAll(); err != nil {
		return err
	}
	if b.p.Rank() > 0 {
		msg := make([]byte, b.spec.Sizes[0])
		for end := time.Now().Add(b.spec.For); time.Now().Before(end); {
			if err := b.q.Send(b.ctx, 0, msg); err != nil {
				return err
			}
		}
		return b.checkIn()
	}
	i := Interval{Bytes: make([]uint64, b.p.Size()-1)}
	buf := make([]byte, b.spec.Sizes[0])
	for i.End.IsZero() { // the first that has ended ends the interval
		n, from, err := b.q.RecvInto(b.ctx, buf)
		switch {
		case err != nil:
			return err
		case i.Start.IsZero():
			i.Start = time.Now()
		case n == 0:
			i.End = time.Now()
		default:
			i.Bytes[from-1] += uint64(n)
		}
	}
	for ended := 1; ended < b.p.Size()-1; {
		n, _, err := b.q.RecvInto(b.ctx, buf)
		if err != nil {
			return err
		}
		if n == 0 {
			ended++
		}
	}
	if err := b.answer(); err != nil {
		return err
	}
	return emit(Sample{Size: len(buf), Interval: &i})
}

// awaitAll waits for all ranks.
func (b *bench) awaitAll() error {
	if b.p.Rank() > 0 {
		return b.checkIn()
	}
	for range b.p.Size() - 1 {
		if _, _, err := b.q.RecvInto(b.ctx, nil); err != nil {
			return err
		}
	}
	return b.answer()
}

// checkIn sends an empty message to rank 0, and waits for its answer. A rank that left without it might give up what
// the network has not carried within a second.
func (b *bench) checkIn() error {
	if err := b.q.Send(b.ctx, 0, nil); err != nil {
		return err
	}
	_, _, err := b.q.RecvInto(b.ctx, nil)
	return err
}

// answer lets the other ranks go on.
func (b *bench) answer() error {
	for to := 1; to < b.p.Size(); to++ {
		if err := b.q.Send(b.ctx, to, nil); err != nil {
			return err
		}
	}
	return nil
}

// A flow is a TCP connection that carries as much as it can.
type flow struct {
	from, to net.Conn
	ended    atomic.Bool
	seen     chan []progressed // what has arrived by when; owned by the goroutine that holds it
}

// progressed is how much had arrived at a time.
type progressed struct {
	at    time.Time
	bytes uint64
}

// startFlow connects two hosts of the lab, and begins to send. The sockets belong to the hosts' network namespaces,
// and the goroutines that use them to this process. The caller ends the flow.
func startFlow(from, to launch.Host, algorithm string) (*flow, error) {
	var l net.Listener
	err := sys.InNetwork(to.Namespace, func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(to.Address, "0"))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("weftlab perf: %w", err)
	}
	defer l.Close()
	f := &flow{seen: make(chan []progressed, 1)}
	err = sys.InNetwork(from.Namespace, func() (err error) {
		f.from, err = net.DialTimeout("tcp", l.Addr().String(), 5*time.Second)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("weftlab perf: %w", err)
	}
	if f.to, err = l.Accept(); err != nil {
		f.from.Close()
		return nil, fmt.Errorf("weftlab perf: %w", err)
	}
	if err := sys.CongestionControl(f.from.(*net.TCPConn), algorithm); err != nil {
		return nil, errors.Join(fmt.Errorf("weftlab perf: TCP with %s: %w", algorithm, err), f.end())
	}
	f.seen <- []progressed{{at: time.Now()}}
	go f.send()
	go f.receive()
	return f, nil
}

// send writes until the flow has ended or the connection fails.
func (f *flow) send() {
	buf := make([]byte, 64<<10)
	for !f.ended.Load() {
		if _, err := f.from.Write(buf); err != nil {
			return
		}
	}
}

// receive reads until the connection ends, and notes how much had arrived by when. The list is owned by the
// goroutine that has taken it out of f.seen.
func (f *flow) receive() {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.to.Read(buf)
		seen := <-f.seen
		f.seen <- append(seen, progressed{time.Now(), seen[len(seen)-1].bytes + uint64(n)})
		if err != nil {
			return
		}
	}
}

// between returns the rate at which bytes arrived between two times.
func (f *flow) between(start, end time.Time) float64 {
	seen := <-f.seen
	defer func() { f.seen <- seen }()
	var first, last uint64
	for _, p := range seen {
		if !p.at.After(start) {
			first = p.bytes
		}
		if !p.at.After(end) {
			last = p.bytes
		}
	}
	return float64(last-first) / end.Sub(start).Seconds() / 1e6
}

// end closes both sockets, which ends the goroutines of the flow.
func (f *flow) end() error {
	f.ended.Store(true)
	return errors.Join(f.from.Close(), f.to.Close())
}
