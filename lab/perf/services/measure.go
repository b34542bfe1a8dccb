package services

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Spec says what to measure.
type Spec struct {
	Systems, Protocols []string
	Connections        []int
	Requests           int // of each measurement; a twentieth of them where an answer is longer than 64 KiB
	Rounds             int
}

// A Result is the figures of one system: one line of -json. Percentiles are over the requests of all rounds, the
// other figures are medians of the rounds.
type Result struct {
	Protocol    string  `json:"protocol"`
	System      string  `json:"system"`
	Connections int     `json:"connections"`
	Requests    int     `json:"requests"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	P999        float64 `json:"p999_us"`
	Rate        float64 `json:"requests_s"`
	MBs         float64 `json:"mb_s"`
	CPU         float64 `json:"cpu_us_per_request"` // of both processes
	Error       string  `json:"error,omitempty"`
}

// A round is one measurement.
type round struct {
	micros    []float64 // of each request
	rate, cpu float64
}

// Run measures all systems in turn, round after round. Progress is called before each measurement.
func Run(ctx context.Context, s Spec, progress func(round int, what string)) []Result {
	var results []Result
	for _, protocol := range s.Protocols {
		for _, n := range s.Connections {
			rounds := make([][]round, len(s.Systems))
			failed := make([]error, len(s.Systems))
			for i := range s.Rounds {
				for k, system := range s.Systems {
					if failed[k] != nil || ctx.Err() != nil {
						continue
					}
					progress(i, fmt.Sprintf("%s, %s, %d connections", protocol, system, n))
					r, err := measure(ctx, s, system, protocol, n)
					rounds[k] = append(rounds[k], r)
					failed[k] = err
				}
			}
			for k, system := range s.Systems {
				results = append(results, summary(protocol, system, n, rounds[k], failed[k]))
			}
		}
	}
	return results
}

// warm is how many requests each connection makes at least before it is measured, as one has made that lasts.
const warm = 32

// measure makes one measurement.
func measure(ctx context.Context, s Spec, system, protocol string, connections int) (round, error) {
	p, err := find(protocol)
	if err != nil {
		return round{}, err
	}
	srv, err := start(ctx, system, protocol)
	if err != nil {
		return round{}, err
	}
	defer srv.end()
	request, end, err := p.Clients(connections, dialler(system, srv.address))
	if err != nil {
		return round{}, err
	}
	defer end()
	each := max(s.Requests/connections, 3)
	if p.Bytes > 64<<10 {
		each = max(each/20, 3)
	}
	if _, _, err := play(request, max(each/10, warm)); err != nil { // connects, and warms up
		return round{}, err
	}
	here := used()
	there := srv.used()
	micros, took, err := play(request, each)
	if err != nil {
		return round{}, err
	}
	cpu := used() - here + srv.used() - there
	n := float64(each * connections)
	return round{micros, n / took.Seconds(), float64(cpu.Nanoseconds()) / 1e3 / n}, nil
}

// play lets all clients run at the same time, each making n requests one after the other.
func play(request []func() error, n int) (micros []float64, took time.Duration, err error) {
	micros = make([]float64, n*len(request))
	errs := make([]error, len(request))
	var wg sync.WaitGroup
	begun := time.Now()
	for i, r := range request {
		own := micros[i*n:][:n]
		wg.Go(func() {
			for k := range own {
				at := time.Now()
				if errs[i] = r(); errs[i] != nil {
					return
				}
				own[k] = float64(time.Since(at).Nanoseconds()) / 1e3
			}
		})
	}
	wg.Wait()
	took = time.Since(begun)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return micros, took, nil
}

// summary combines the rounds of one system.
func summary(protocol, system string, connections int, rounds []round, failed error) Result {
	r := Result{Protocol: protocol, System: system, Connections: connections}
	if failed != nil {
		r.Error = failed.Error()
		return r
	}
	var micros, rates, cpus []float64
	for _, x := range rounds {
		micros = append(micros, x.micros...)
		rates = append(rates, x.rate)
		cpus = append(cpus, x.cpu)
	}
	if len(micros) == 0 {
		r.Error = "no round was measured"
		return r
	}
	slices.Sort(micros)
	slices.Sort(rates)
	slices.Sort(cpus)
	at := func(share float64) float64 { return micros[min(int(share*float64(len(micros))), len(micros)-1)] }
	r.Requests = len(micros)
	r.P50 = at(0.5)
	r.P99 = at(0.99)
	r.P999 = at(0.999)
	r.Rate = rates[len(rates)/2]
	r.CPU = cpus[len(cpus)/2]
	if p, err := find(protocol); err == nil {
		r.MBs = r.Rate * float64(p.Bytes) / 1e6
	}
	return r
}
