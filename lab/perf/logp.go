package perf

import (
	"context"
	"slices"
)

// A LogP is the parameters of the LogP model for one of Ways over one transport: one line of -json. Times are in
// microseconds.
type LogP struct {
	Test      string  `json:"test"` // "logp"
	Way       string  `json:"way"`
	Transport string  `json:"transport"`
	Size      int     `json:"size"`
	N         int     `json:"n"`
	Send      float64 `json:"o_s_us"`     // processor time of a send
	Receive   float64 `json:"o_r_us"`     // processor time of a receive
	Gap       float64 `json:"g_us"`       // between messages, when as many are sent as can be
	Latency   float64 `json:"l_us"`       // what is left of half a round trip
	Sum       float64 `json:"sum_us"`     // o_s + L + o_r
	OneWay    float64 `json:"one_way_us"` // measured, by the clock that both ranks read
	Off       float64 `json:"off"`        // of the sum from what was measured, as a share
	Error     string  `json:"error,omitempty"`
}

// Overhead is the processor time of a message at both ends.
func (l *LogP) Overhead() float64 { return l.Send + l.Receive }

// MeasureLogP measures ways over transports, all in turn in each round.
func MeasureLogP(
	ctx context.Context, s Spec, ways, transports []string, progress func(round int, system string),
) []LogP {
	s.Test = "logp"
	var results []LogP
	samples := map[[3]any][]Sample{}
	failed := map[[2]string]error{}
	for round := range s.Rounds {
		for _, transport := range transports {
			for _, way := range ways {
				id := [2]string{transport, way}
				if failed[id] != nil || ctx.Err() != nil {
					continue
				}
				progress(round, way+" over "+transport)
				s.Transport = transport
				got, err := library{op: way}.Run(ctx, s)
				failed[id] = err
				for _, x := range got {
					key := [3]any{transport, way, x.Size}
					samples[key] = append(samples[key], x)
				}
			}
		}
	}
	for _, transport := range transports {
		for _, size := range s.Sizes {
			for _, way := range ways {
				l := LogP{Test: "logp", Way: way, Transport: transport, Size: size}
				if err := failed[[2]string{transport, way}]; err != nil {
					l.Error = err.Error()
				} else {
					l.fill(samples[[3]any{transport, way, size}])
				}
				results = append(results, l)
			}
		}
	}
	return results
}

// fill computes the parameters, each as the median over the rounds.
func (l *LogP) fill(samples []Sample) {
	var send, receive, gap, latency, way []float64
	for _, s := range samples {
		m := s.Issue
		if m == nil {
			continue
		}
		os := max(median(m.Few), 0) / 1000
		or := max(m.Slow-m.D, 0)/1000 - os
		or = max(or, 0)
		send = append(send, os)
		receive = append(receive, or)
		gap = append(gap, m.Gap/1000)
		latency = append(latency, max(median(m.RTT)/2000-os-or, 0))
		way = append(way, median(m.OneWay)/1000)
		l.N += s.Ops
	}
	l.Send = median(send)
	l.Receive = median(receive)
	l.Gap = median(gap)
	l.Latency = median(latency)
	l.OneWay = median(way)
	l.Sum = l.Send + l.Latency + l.Receive
	if l.OneWay > 0 {
		l.Off = l.Sum/l.OneWay - 1
	}
}

// Transports returns the transports over which two ranks can be measured here: with raw Ethernet in a lab,
// otherwise with shared memory.
func Transports() []string {
	if here, there, err := ends(); err == nil && here != there {
		return []string{"eth", "udp", "tcp"}
	}
	return []string{"shm", "udp", "tcp"}
}

// A Reach is the figures of a system at all sizes: one line of -json.
type Reach struct {
	Test      string    `json:"test"` // "libraries"
	System    string    `json:"system"`
	Transport string    `json:"transport"`
	Sizes     []int     `json:"sizes"`
	Latency   []float64 `json:"latency_us,omitempty"`
	MBs       []float64 `json:"mb_s,omitempty"`
	Overhead  []float64 `json:"overhead_us,omitempty"` // o_s + o_r; not of systems that are not weft's
	Half      float64   `json:"half_power_bytes,omitempty"`
	Absent    bool      `json:"absent,omitempty"`
	Package   string    `json:"package,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// HalfPower returns the size at which a system reaches half of its highest bandwidth, by linear interpolation
// between two sizes; 0 if it is not known.
func HalfPower(sizes []int, mbs []float64) float64 {
	if len(mbs) == 0 {
		return 0
	}
	half := slices.Max(mbs) / 2
	for i, v := range mbs {
		if v < half {
			continue
		}
		if i == 0 {
			return float64(sizes[0])
		}
		from := float64(sizes[i-1])
		to := float64(sizes[i])
		return from + (to-from)*(half-mbs[i-1])/(v-mbs[i-1])
	}
	return 0
}

// MeasureLibraries measures latency and bandwidth of weft, PUSH, the four libraries and peers, all in turn in each
// round, and the overhead of all but the peers.
func MeasureLibraries(ctx context.Context, s Spec, peers []System, progress func(round int, system string)) []Reach {
	systems := []System{renamed{Weft, "weft", s}, renamed{Weft, "push", s}}
	for _, name := range Libraries {
		systems = append(systems, Find(name))
	}
	systems = append(systems, peers...)
	reach := make([]Reach, len(systems))
	for i, sys := range systems {
		reach[i] = Reach{Test: "libraries", System: sys.Name(), Transport: s.Transport, Sizes: s.Sizes}
	}
	for _, test := range []string{"latency", "bandwidth"} {
		s.Test = test
		s.Op = "send"
		for i, op := range Ways[:2] {
			own := s
			own.Op = op
			systems[i] = renamed{Weft, []string{"weft", "push"}[i], own}
		}
		for _, r := range Measure(ctx, s, systems, progress) {
			i := slices.IndexFunc(systems, func(sys System) bool { return sys.Name() == r.System })
			reach[i].add(&r)
		}
	}
	for _, l := range MeasureLogP(ctx, s, Ways, []string{s.Transport}, progress) {
		at := slices.Index(Ways, l.Way)
		if l.Error != "" {
			reach[at].Error = l.Error
			continue
		}
		reach[at].Overhead = append(reach[at].Overhead, l.Overhead())
	}
	for i := range reach {
		reach[i].Half = HalfPower(s.Sizes, reach[i].MBs)
	}
	return reach
}

// add adds the result of one size.
func (r *Reach) add(from *Result) {
	v, _, _ := from.Figure()
	switch {
	case from.Absent:
		r.Absent = true
		r.Package = from.Package
	case from.Error != "":
		r.Error = from.Error
	case from.Test == "latency":
		r.Latency = append(r.Latency, v)
	default:
		r.MBs = append(r.MBs, v)
	}
}
