package perf

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// sockperf is the ping-pong of sockperf over TCP with sockets that never block: what a C program reaches that
// spins.
type sockperf struct{}

func (sockperf) Name() string { return "sockperf" }

func (sockperf) Absent() string { return absent("sockperf", "sockperf") }

func (sockperf) Supports(s Spec) bool {
	return s.Test == "latency" && s.Op == "send" && !s.Blocked && !s.Interrupted
}

// A line such as "percentile 50.000 =    5.815": one way, in us.
var sockperfMedian = regexp.MustCompile(`percentile 50\.000 = +([0-9.]+)`)

// Run measures every size for a second with an own server. sockperf prints percentiles of half round trips; only
// the median is read.
func (sockperf) Run(ctx context.Context, s Spec) ([]Sample, error) {
	return eachSize(s, func(size int, address, port string) (Sample, error) {
		at := []string{"--tcp", "-i", address, "-p", port, "--nonblocked"}
		const least = 14 // bytes of a message
		out, err := talk(ctx, "percentile 50", append([]string{"sockperf", "server"}, at...),
			append([]string{"sockperf", "ping-pong", "-m", strconv.Itoa(max(size, least)), "-t", "1"}, at...))
		if err != nil {
			return Sample{}, err
		}
		m := sockperfMedian.FindSubmatch(out)
		if m == nil {
			return Sample{}, fmt.Errorf("sockperf: no figures in %q", out)
		}
		us, err := strconv.ParseFloat(string(m[1]), 64)
		return Sample{Size: size, NS: []float64{us * 1000}, Ops: 1}, err
	})
}

// iperf3 is the TCP bandwidth that iperf3 measures.
type iperf3 struct{}

func (iperf3) Name() string { return "iperf3" }

func (iperf3) Absent() string { return absent("iperf3", "iperf3") }

func (iperf3) Supports(s Spec) bool {
	return s.Test == "bandwidth" && s.Op == "send" && !s.Blocked && !s.Interrupted
}

// Run measures every size for a second, in writes of up to 1 MiB. The figure is what the receiver counted.
func (iperf3) Run(ctx context.Context, s Spec) ([]Sample, error) {
	return eachSize(s, func(size int, address, port string) (Sample, error) {
		out, err := talk(ctx, "sum_received", []string{"iperf3", "-s", "-B", address, "-p", port},
			[]string{"iperf3", "-c", address, "-p", port, "-t", "1", "-J", "-l", strconv.Itoa(min(size, 1<<20))})
		if err != nil {
			return Sample{}, err
		}
		var r struct {
			End struct {
				Received struct {
					BitsPerSecond float64 `json:"bits_per_second"`
				} `json:"sum_received"`
			}
		}
		if err := json.Unmarshal(out, &r); err != nil || r.End.Received.BitsPerSecond == 0 {
			return Sample{}, fmt.Errorf("iperf3: no figures (%v) in %q", err, out)
		}
		return Sample{Size: size, MBs: r.End.Received.BitsPerSecond / 8e6, Ops: 1}, nil
	})
}

// absent returns the package that contains a program, if the program is not installed.
func absent(program, pkg string) string {
	if _, err := exec.LookPath(program); err != nil {
		return pkg
	}
	return ""
}
