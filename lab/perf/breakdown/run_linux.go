package breakdown

import (
	"context"
	"errors"
	"fmt"

	"weft/internal/launch"
	"weft/lab/perf"
)

// ErrNoLab reports that there are no two hosts to measure between.
var ErrNoLab = errors.New("weftlab perf breakdown needs two hosts: weftlab lab -- weftlab perf breakdown")

// Run measures every path in turn, round after round, between the first two hosts of the lab that this process runs
// in. Progress is called before each round.
func Run(ctx context.Context, rounds int, progress func(round int)) ([]Way, error) {
	hosts, err := launch.LabHosts()
	if err != nil {
		return nil, err
	}
	if len(hosts) < 2 {
		return nil, ErrNoLab
	}
	var all []paths
	for round := range rounds {
		progress(round)
		p, err := measure(ctx, hosts[0], hosts[1])
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	m := medians(all)
	return m.ways(), nil
}

// measure measures all parts, one after the other, and then the whole paths. Times are in microseconds.
func measure(ctx context.Context, here, there launch.Host) (p paths, err error) {
	p.call = systemCall()
	if p.line, err = cacheLine(); err != nil {
		return p, err
	}
	if p.wake, err = wakeUp(); err != nil {
		return p, err
	}
	if p.protocol, err = protocol(ctx); err != nil {
		return p, err
	}
	if p.frame, err = frames(here, there); err != nil {
		return p, err
	}
	if p.tcpSpinning, err = spinningTCP(here, there); err != nil {
		return p, err
	}
	for _, w := range []struct {
		to      *float64
		system  perf.System
		blocked bool
	}{{&p.eth, perf.Weft, false}, {&p.ethAsleep, perf.Weft, true}, {&p.tcp, perf.Find("tcp"), false}} {
		s := perf.Spec{Test: "latency", Op: "send", Transport: "eth", Sizes: []int{size}, Rounds: 1, Blocked: w.blocked}
		r := perf.Measure(ctx, s, []perf.System{w.system}, func(int, string) {})[0]
		if r.Error != "" {
			return p, fmt.Errorf("weftlab perf: %s", r.Error)
		}
		*w.to = r.P50
	}
	return p, nil
}
