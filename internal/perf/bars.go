package perf

import (
	"context"
	"fmt"
	"slices"

	"weft/internal/launch"
)

// A Bar is something that weft means to reach, relative to what its peers
// reach in the same run.
type Bar struct {
	Name   string  // for -only
	What   string  // one line
	Ours   Spec    // what weft does
	Theirs []Rival // what it is compared with: the best of them counts
	system System  // what is measured, if it is not Weft
	Limit  float64 // of ours/theirs; or of ours alone, if there are no rivals
	Least  bool    // the limit is the least that will do, not the most
	unit   string  // of the limit without rivals
}

// A Rival is another system, or weft doing something else, in a Bar.
type Rival struct {
	System System
	Label  string
	Spec   Spec
}

func spec(test, op string, size int) Spec {
	return Spec{Test: test, Transport: "auto", Op: op, Sizes: []int{size}}
}

func rivals(s Spec, names ...string) []Rival {
	var list []Rival
	for _, name := range names {
		list = append(list, Rival{Find(name), name, s})
	}
	return list
}

func (s Spec) with(change func(*Spec)) Spec {
	change(&s)
	return s
}

// Bars lists what weft means to reach (docs/PERFORMANCE.md): between the hosts of
// a lab if we are in one, else on this host.
func Bars() []Bar {
	if hosts, err := launch.LabHosts(); err == nil && len(hosts) >= 2 {
		return append(append(labBars(), lossyBars()...), sortBars(len(hosts))...)
	}
	return hostBars()
}

// labBars are about what goes between hosts: over raw Ethernet, with UDP for long packets,
// and over UDP alone.
func labBars() []Bar {
	over := func(s Spec) Spec { return s.with(func(s *Spec) { s.Transport = "eth" }) }
	one, bulk, many := over(spec("latency", "send", 64)), over(spec("bandwidth", "send", 1<<20)), over(spec("rate", "send", 64))
	interrupted := one.with(func(s *Spec) { s.Interrupted = true })
	sealed := bulk.with(func(s *Spec) { s.Transport, s.Guard = "udp", "encrypt" })
	asleep := one.with(func(s *Spec) { s.Blocked = true })
	pieces := over(spec("bandwidth", "send", 64<<10))
	datagrams := one.with(func(s *Spec) { s.Transport = "udp" })
	return append([]Bar{
		{Name: "eth64", What: "raw Ethernet, 64 B, against TCP in Go", Ours: one, Theirs: rivals(one, "tcp"), Limit: 0.28},
		{Name: "eth64spin", What: "the same, against TCP that spins, in C", Ours: one, Theirs: rivals(one, "sockperf"), Limit: 0.5},
		{Name: "ethbulk", What: "raw Ethernet, 1 MiB messages, against TCP", Ours: bulk, Theirs: rivals(bulk, "iperf3"), Limit: 1, Least: true},
		{Name: "eth64k", What: "the same, 64 KiB, against TCP with writes of 64 KiB", Ours: pieces, Theirs: rivals(pieces, "iperf3"), Limit: 0.9, Least: true},
		{Name: "udphosts64", What: "UDP between hosts, 64 B, against TCP in Go", Ours: datagrams, Theirs: rivals(datagrams, "tcp"), Limit: 0.55},
		{Name: "sealedbulk", What: "UDP, encrypted, 1 MiB messages, against TLS 1.3 in Go", Ours: sealed, Theirs: rivals(sealed, "tls"), Limit: 1.3, Least: true},
		{Name: "ethrate", What: "messages of 64 B, against weft over UDP", Ours: many, Theirs: rivals(many, "udp"), Limit: 2, Least: true},
		{Name: "reaping", What: "64 B, polling, against asleep", Ours: one, Theirs: []Rival{{Weft, "asleep", asleep}}, Limit: 0.5},
		{Name: "interrupt", What: "64 B, reaping, against an interrupt that brings the packet (paper 004: 0.79)", Ours: one,
			Theirs: []Rival{{Weft, "interrupt", interrupted}}, Limit: 0.79},
	}, append(ethLibraryBars(one), besideBars("eth", "udp", "tcp")...)...)
}

// hostBars are about shared memory, and UDP over loopback.
func hostBars() []Bar {
	send8, sendMB := spec("latency", "send", 8), spec("bandwidth", "send", 1<<20)
	blocked := send8.with(func(s *Spec) { s.Blocked = true })
	udp := spec("latency", "send", 64).with(func(s *Spec) { s.Transport = "udp" })
	many := spec("alltoall", "send", 8).with(func(s *Spec) { s.N, s.Exchanges = 16, 1000 })
	two := many.with(func(s *Spec) { s.N, s.Exchanges = 2, many.Exchanges*many.N*(many.N-1)/2 })
	mpis := []string{"openmpi", "mpich"}
	lock := func(op string) Spec {
		return spec("lock", op, 0).with(func(s *Spec) { s.N, s.Algorithm = 2, "queue" })
	}
	bars := []Bar{
		{Name: "relock", What: "Lock and Unlock of who had it last", Ours: lock("reacquire"), Limit: 0.05, unit: "us"},
		{Name: "handover", What: "a lock handed on, against a message of 8 B", Ours: lock("handover"),
			Theirs: []Rival{{Weft, "a message", send8}}, Limit: 2},
	}
	crowd := func(pattern string, n int) Spec {
		return send8.with(func(s *Spec) { s.Pattern, s.Goroutines = pattern, n })
	}
	handoff, rpc, many64 := crowd("handoff", 1), crowd("rpc", 1), crowd("direct", 64)
	bars = append(bars,
		Bar{Name: "handoff", What: "the receiver hands over by a channel, against one that answers itself", Ours: handoff,
			Theirs: []Rival{{Weft, "direct", crowd("direct", 1)}}, Limit: 3},
		Bar{Name: "handoffunix", What: "the same, against a Unix socket", Ours: handoff, Theirs: rivals(handoff, "unix"), Limit: 0.5},
		Bar{Name: "goroutines64", What: "64 goroutines with a port each, against Unix sockets", Ours: many64, Theirs: rivals(many64, "unix"), Limit: 1},
		Bar{Name: "rpc", What: "net/rpc over a port, against a Unix socket", Ours: rpc, Theirs: rivals(rpc, "unix"), Limit: 1})
	for _, n := range []int{2, 4, 8, 16} {
		limit := 0.5
		if n == 2 {
			limit = 1
		}
		b := spec("barrier", "", 0).with(func(s *Spec) { s.N, s.Algorithm = n, "auto" })
		bars = append(bars, Bar{Name: fmt.Sprintf("barrier%d", n), What: fmt.Sprintf("barrier of %d ranks", n), Ours: b, Theirs: rivals(b, "openmpi"), Limit: limit})
	}
	for _, size := range []struct {
		name  string
		bytes int
	}{{"ipush8", 8}, {"ipush4k", 4 << 10}} {
		push, ipush := spec("ipush", "push", size.bytes), spec("ipush", "ipush", size.bytes)
		status := spec("ipush", "push-status", size.bytes)
		bars = append(bars, Bar{Name: size.name, What: fmt.Sprintf("IPUSH of %d B, against PUSH", size.bytes), Ours: ipush,
			Theirs: []Rival{{Weft, "push", push}, {Weft, "push and a status", status}}, Limit: 1.1})
	}
	oneWay := func(op string) Spec {
		return spec("ipush", op, 1<<20).with(func(s *Spec) { s.Figure = "bandwidth" })
	}
	gather := func(op string) Spec {
		return spec("gather", op, 256).with(func(s *Spec) { s.N, s.Exchanges = 8, 20000 })
	}
	bars = append(bars,
		Bar{Name: "ipush1m", What: "IPUSH of 1 MiB, one way, against PUSH", Ours: oneWay("ipush"), Theirs: []Rival{{Weft, "push", oneWay("push")}}, Limit: 0.95, Least: true},
		Bar{Name: "shared7", What: "7 senders of 256 B into a shared ring, against rings of their own", Ours: gather("shared"),
			Theirs: []Rival{{Weft, "own rings", gather("own")}}, Limit: 0.7, Least: true})
	bars = append(bars, libraryBars()...)
	bars = append(bars, streamBars()...)
	bars = append(bars, besideBars("shm", "udp", "tcp")...)
	return append(bars, []Bar{
		{Name: "send8", What: "send/receive 8 B, one way", Ours: send8, Theirs: rivals(send8, "openmpi"), Limit: 1},
		{Name: "put8", What: "PUT 8 B seen by a polling peer", Ours: spec("latency", "put", 8),
			Theirs: rivals(spec("latency", "put", 8), "ucx"), Limit: 1.1},
		{Name: "push8", What: "PUSH 8 B seen by a polling peer", Ours: spec("latency", "push", 8),
			Theirs: rivals(spec("latency", "push", 8), "ucx"), Limit: 1.1},
		{Name: "send8k", What: "send/receive 8 KiB, one way", Ours: spec("latency", "send", 8<<10),
			Theirs: rivals(spec("latency", "send", 8<<10), "mpich"), Limit: 1},
		{Name: "send1m", What: "1 MiB from ordinary memory", Ours: sendMB, Theirs: rivals(sendMB, mpis...), Limit: 0.9, Least: true},
		{Name: "alloc1m", What: "1 MiB from Alloc memory", Ours: sendMB.with(func(s *Spec) { s.Alloc = true }),
			Theirs: rivals(sendMB, mpis...), Limit: 1.2, Least: true},
		{Name: "push1m", What: "PUSH 1 MiB", Ours: spec("bandwidth", "push", 1<<20), Theirs: rivals(sendMB, mpis...), Limit: 1.2, Least: true},
		{Name: "rate8", What: "messages of 8 B, one pair", Ours: spec("rate", "send", 8), Limit: 5, Least: true, unit: "M/s"},
		{Name: "udp64", What: "UDP over loopback, 64 B", Ours: udp, Theirs: rivals(udp, "tcp"), Limit: 0.5},
		{Name: "blocked", What: "both sides asleep, 8 B", Ours: blocked, Theirs: rivals(blocked, "unix"), Limit: 0.4},
		{Name: "idle", What: "processor time of two ranks that wait, per second", Ours: spec("idle", "recv", 8), Limit: 0.02, unit: "s/s"},
		{Name: "alltoall", What: "16 ranks, all to all, CPU against 2 ranks", Ours: many,
			Theirs: []Rival{{Weft, "weft, 2 ranks", two}}, Limit: 3},
	}...)
}

// An Outcome is what came of a Bar: a line of -json.
type Outcome struct {
	Test    string   `json:"test"` // "bar"
	Bar     string   `json:"bar"`
	What    string   `json:"what"`
	Reached bool     `json:"reached"`
	Ratio   float64  `json:"ratio,omitempty"` // ours/theirs, in the better of two systems
	Limit   float64  `json:"limit"`
	Least   bool     `json:"at_least,omitempty"`
	Best    string   `json:"best,omitempty"` // which rival counted
	Results []Result `json:"results"`

	Unit string `json:"-"`
}

// Measure measures a bar, all systems in turn in each round.
func (b Bar) Measure(ctx context.Context, rounds int, progress func(round int, system string)) Outcome {
	ours := as{Weft, "weft", b.Ours}
	if b.system != nil {
		ours.System = b.system
	}
	systems := []System{ours}
	for _, r := range b.Theirs {
		systems = append(systems, as{r.System, r.Label, r.Spec})
	}
	s := b.Ours
	s.Rounds = rounds
	o := Outcome{
		Test: "bar", Bar: b.Name, What: b.What, Limit: b.Limit, Least: b.Least, Unit: b.unit,
		Results: Measure(ctx, s, systems, progress),
	}
	o.judge()
	return o
}

// judge compares our result, which is the first, with the best of the others.
func (o *Outcome) judge() {
	ours, unit, less := o.Results[0].Figure()
	if o.Results[0].N == 0 {
		return // it failed
	}
	if o.Unit == "" {
		o.Unit = unit
	}
	value := ours
	if len(o.Results) > 1 {
		best := 0.0
		for _, r := range o.Results[1:] {
			v, _, _ := r.Figure()
			if v > 0 && (best == 0 || (v < best) == less) {
				best, o.Best = v, r.System
			}
		}
		if best == 0 {
			return
		}
		value = ours / best
		o.Ratio = value
	}
	o.Reached = value <= o.Limit != o.Least || value == o.Limit
}

// Bound says the limit in words.
func (o *Outcome) Bound() string {
	sign := "<="
	if o.Least {
		sign = ">="
	}
	if len(o.Results) > 1 {
		return fmt.Sprintf("%s %.3g x", sign, o.Limit)
	}
	return fmt.Sprintf("%s %.3g %s", sign, o.Limit, o.Unit)
}

// as is a system that runs its own spec under another name.
type as struct {
	System
	name string
	spec Spec
}

func (a as) Name() string  { return a.name }
func (a as) Can(Spec) bool { return a.System.Can(a.spec) }
func (a as) Run(ctx context.Context, s Spec) ([]Sample, error) {
	a.spec.Rounds = s.Rounds
	samples, err := losing(ctx, a.spec.Loss, func(ctx context.Context) ([]Sample, error) { return a.System.Run(ctx, a.spec) })
	for i := range samples {
		if len(s.Sizes) == 1 { // that of what it is compared with
			samples[i].Size = s.Sizes[0]
		}
	}
	return samples, err
}

// FindBars returns the bars of the given names, all if there are none.
func FindBars(names []string) ([]Bar, error) {
	all := Bars()
	if len(names) == 0 {
		return all, nil
	}
	var found []Bar
	for _, name := range names {
		i := slices.IndexFunc(all, func(b Bar) bool { return b.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("perf bars: there is no bar %q", name)
		}
		found = append(found, all[i])
	}
	return found, nil
}
