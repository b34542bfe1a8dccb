package perf

import (
	"context"
	"errors"

	"weft/internal/launch"
	"weft/internal/netlab"
)

// lossyBars are about bulk on a network that loses one frame in a hundred: what is left
// of the bandwidth without losses, and of TCP's with them. (A frame may stand for a whole
// batch of packets, of weft's and of TCP's alike.)
func lossyBars() (bars []Bar) {
	for _, transport := range []string{"eth", "udp"} {
		whole := spec("bandwidth", "send", 64<<10).with(func(s *Spec) { s.Transport = transport })
		lossy := whole.with(func(s *Spec) { s.Loss = 0.01 })
		bars = append(bars,
			Bar{Name: transport + "loss", What: "1 % of frames lost, 64 KiB messages over " + transport + ", against no losses", Ours: lossy,
				Theirs: []Rival{{Weft, "no losses", whole}}, Limit: 0.4, Least: true},
			Bar{Name: transport + "losstcp", What: "the same, against TCP with as many", Ours: lossy,
				Theirs: rivals(lossy, "tcp", "iperf3"), Limit: 1, Least: true})
	}
	return bars
}

// losing runs f while the hosts of the lab that we are in lose a share of all frames.
func losing(ctx context.Context, share float64, f func(ctx context.Context) ([]Sample, error)) ([]Sample, error) {
	if share == 0 {
		return f(ctx)
	}
	hosts, err := launch.LabHosts()
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, errors.New("perf: frames can be lost between the hosts of a lab only: weft lab -- weft perf bars")
	}
	l := &netlab.Lab{}
	for _, h := range hosts {
		l.Hosts = append(l.Hosts, netlab.Host{Namespace: h.Namespace})
	}
	end, err := l.Trouble(netlab.Trouble{Lose: share})
	if err != nil {
		return nil, err
	}
	samples, err := f(ctx)
	return samples, errors.Join(err, end())
}
