package perf

import (
	"context"
	"errors"

	"weft/internal/launch"
	"weft/lab/netlab"
)

// lossyTargets concern bulk transfers while one frame in a hundred gets lost: the share of the bandwidth that
// is left, and the comparison with TCP under the same losses. A frame may stand for a whole batch of packets,
// of weft's and of TCP's alike.
func lossyTargets() (targets []Target) {
	for _, over := range [][2]string{{"eth", "raw Ethernet"}, {"udp", "UDP"}} {
		transport := over[0]
		name := over[1]
		whole := spec("bandwidth", "send", 64<<10).with(func(s *Spec) { s.Transport = transport })
		lossy := whole.with(func(s *Spec) { s.Loss = 0.01 })
		targets = append(targets,
			Target{
				Name: transport + "loss", What: "64 KiB, 1 % of frames lost, against no losses, " + name,
				Ours: lossy, Against: weftDoing("no losses", whole), Limit: 0.4, AtLeast: true,
			},
			Target{
				Name: transport + "losstcp", What: "64 KiB, 1 % of frames lost, " + name + ", against TCP with as many losses",
				Ours: lossy, Against: systemsDoing(lossy, "tcp", "iperf3"), Limit: 1, AtLeast: true,
			})
	}
	return targets
}

// losing runs f while the hosts of the lab that this process runs in lose a share of all frames.
func losing(ctx context.Context, share float64, f func(ctx context.Context) ([]Sample, error)) ([]Sample, error) {
	if share == 0 {
		return f(ctx)
	}
	hosts, err := launch.LabHosts()
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, errors.New("perf: frames can be lost only between the hosts of a lab: " +
			"weftlab lab -- weftlab targets -only ethloss,udploss")
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
