package perf

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// ucx is ucx_perftest: put for writes, tag matching for messages.
type ucx struct{}

func (ucx) Name() string { return "ucx" }

func (ucx) Absent() string {
	return absent("ucx_perftest", "ucx-utils")
}

// Supports leaves out what ucx_perftest does not measure, and ranks that sleep: its processes always poll.
func (ucx) Supports(s Spec) bool {
	coordination := s.Test == "barrier" || s.Test == "lock" || s.Test == "alltoall"
	return !coordination && s.Op != "pull" && !s.Blocked && !s.Interrupted
}

// test returns ucx_perftest's name for a test.
func (ucx) test(s Spec) string {
	name := "tag_"
	if s.Op != "send" {
		name = "ucp_put_"
	}
	if s.Test == "latency" {
		return name + "lat"
	}
	return name + "bw"
}

// Run runs ucx_perftest once for each size, with as many messages as weft's measurement has.
func (u ucx) Run(ctx context.Context, s Spec) (samples []Sample, err error) {
	for _, size := range s.Sizes {
		n := s.count(size)
		if s.Test == "latency" {
			n = s.iterations(size)
		}
		out, err := u.perftest(ctx, "-t", u.test(s), "-s", strconv.Itoa(size), "-n", strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		sample, err := parseUCX(out, size, s.Test)
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

// perftest runs server and client, over shared memory, or over TCP between two hosts.
func (ucx) perftest(ctx context.Context, args ...string) ([]byte, error) {
	here, there, err := ends()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	tls := "posix,sysv,self"
	if here != there {
		tls = "tcp,self"
	}
	args = append(args, "-p", strconv.Itoa(port))
	server := append([]string{"ucx_perftest"}, args...)
	client := append([]string{"ucx_perftest", there.Address}, args...)
	return talk(ctx, "", server, client,
		"UCX_TLS="+tls, "UCX_LOG_LEVEL=fatal")
}

// freePort returns a TCP port that was free a moment ago: the tools that are measured cannot choose one themselves.
// If another process takes it meanwhile, the measurement fails.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// parseUCX reads the last line of figures: iterations, then latency in us
// (50th percentile, average, overall), MB/s and messages per second (average,
// overall).
func parseUCX(out []byte, size int, test string) (Sample, error) {
	var last []float64
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(strings.NewReplacer("Final:", "", "[thread 0]", "").Replace(line))
		var row []float64
		for _, w := range f {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				row = nil
				break
			}
			row = append(row, v)
		}
		if len(row) >= 7 {
			last = row
		}
	}
	if last == nil {
		return Sample{}, fmt.Errorf("ucx_perftest: no figures in %q", out)
	}
	v := last[len(last)-7:]
	s := Sample{Size: size, Ops: int(last[0])}
	if test == "latency" {
		s.NS = []float64{v[0] * 1000}
		if v[0] == 0 {
			s.NS[0] = v[1] * 1000
		}
	} else {
		s.MBs = v[4] * 1.048576
		s.Msgs = v[6]
	}
	return s, nil
}
