package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/lab/perf"
)

const perfHelp = `Measures weft between two processes of this machine, and other systems (peers) in the
same run: all systems run in turn, round after round, and their medians are compared.

Latency is the time one way, half of a round trip (of pull: the whole operation).
Peers are tcp, unix, tls, datagram (UDP) and icmp (Go's standard library; the kernel answers
icmp), ip and frames (packets and frames without a protocol above; as root), stream (weft's
package stream), udp (weft over UDP), sockperf (TCP that spins, in C), iperf3, openmpi, mpich
and ucx. A peer that is not installed is reported with the Debian package that contains it.
In a lab (weftlab lab) everything is measured between two hosts, and openmpi and ucx use TCP.

EXAMPLES
  weftlab perf latency -size 8,64,1024 -vs tcp,unix,openmpi,mpich,ucx
  weftlab perf latency -op put -vs ucx
  weftlab perf bandwidth -size 65536,1048576 -vs openmpi,mpich -json
  weftlab perf rate -vs openmpi,ucx
  weftlab perf latency -transport udp -size 64 -vs tcp
  weftlab lab -- weftlab perf latency -transport eth -size 64 -vs tcp,udp,sockperf,openmpi,ucx
  weftlab perf latency -goroutines 64 -pattern direct -vs unix    each with a port of its own
  weftlab perf latency -size 8 -pattern handoff -vs unix    the receiver passes requests on by a channel
  weftlab perf latency -blocked -vs unix       both sides asleep when a message comes
  weftlab perf latency -size 8 -beside 1073741824           while messages of 1 GiB go to the same rank
  weftlab perf alltoall -n 16 -size 8          processor time, more ranks than processors
  weftlab perf barrier -n 4,8 -vs openmpi      see weftlab perf barrier -help, and lock
  weftlab perf ipush                           see weftlab perf ipush -help
  weftlab perf match                           searches for messages by source and tag
  weftlab perf logp                            o_s, o_r, g and L of the user-level libraries
  weftlab perf libraries -svg libraries.svg    the user-level libraries side by side
  weftlab perf buffers                         memory that they hold for messages, by ranks
  weftlab perf flow                            flow controls, where the receiver is slow
  weftlab lab -hosts 8 -- weftlab perf pmethernet    the figures of PM/Ethernet
  weftlab perf sharing                         a link that ranks and TCP share
  weftlab perf services                        HTTP and net/rpc over sockets and weft
  weftlab targets                         the targets of docs/PERFORMANCE.md
  weftlab lab -- weftlab perf breakdown           where the microseconds go`

// perfTests are the measurements, each with its flags.
func perfTests() []perfTest {
	const plain = "transport=auto op=send rounds=5 vs json inplace alloc interrupt blocked "
	here := "transport=" + perf.Transports()[0]
	reached := "transports=" + strings.Join(perf.Transports(), ",")
	real := []string{"shm", "eth", "udp", "tcp"}
	auto := append([]string{"auto"}, real...)
	mpi := []string{"openmpi", "mpich"}
	messages := map[string][]string{
		"transport": auto, "op": {"send", "push", "pull", "put"}, "vs": perf.Names, "pattern": perf.Patterns,
	}
	return []perfTest{
		{
			name: "latency", short: "time of a message or write, one way", help: perfHelp, run: measure, of: messages,
			flags: plain + "size=8,64,1024,8192 goroutines=0 pattern beside=0",
		},
		{
			name: "bandwidth", short: "bytes per second, one way", help: perfHelp, run: measure, of: messages,
			flags: plain + "size=65536,1048576",
		},
		{
			name: "rate", short: "messages per second", help: perfHelp, run: measure, of: messages, flags: plain + "size=8",
		},
		{
			name: "alltoall", short: "processor time of an exchange among many ranks", help: perfHelp, run: measure,
			of: messages, flags: plain + "size=8 n=16 exchanges=1000",
		},
		{
			name: "barrier", short: "barriers, by algorithm and number of ranks", help: perfBarrierHelp, run: measureCoord,
			flags: "transport=auto ns=2 algorithm=auto,dissemination,tree vs rounds=5 json",
			of:    map[string][]string{"transport": auto, "vs": mpi, "algorithm": append(barrierAlgorithms(), "all")},
		},
		{
			name: "lock", short: "locks: taken again, passed on, contended", help: perfLockHelp, run: measureCoord,
			flags: "transport=auto ns=2 algorithm=queue,central vs rounds=5 json ops=" + strings.Join(lockOps, ",") +
				" beside=0",
			of: map[string][]string{
				"transport": auto, "vs": mpi, "algorithm": append(lockAlgorithms, "all"), "ops": lockOps,
			},
		},
		{
			name: "ipush", short: "IPUSH against PUSH, by size and condition", help: perfIPushHelp, run: measureIPush,
			flags: "transport=auto size=8,4096 rounds=5 figure=latency json svg ops=" + strings.Join(perf.IPushOps, ","),
			of: map[string][]string{
				"transport": auto, "ops": perf.IPushOps, "figure": {"latency", "bandwidth"},
			},
			from: map[string][2]int{"size": {8, 1 << 30}},
		},
		{
			name: "match", short: "searches by source and tag, with one queue and with many", help: perfMatchHelp,
			run: measureMatch, flags: "n=16 rounds=5 seed=1 trace json",
		},
		{
			name: "logp", short: "overhead, gap and latency of weft and the libraries on it", help: perfLogPHelp,
			run: measureLogP, flags: reached + " way=" + strings.Join(perf.Ways, ",") + " size=8 rounds=5 json svg",
			of: map[string][]string{"transports": real, "way": perf.Ways},
		},
		{
			name: "libraries", short: "the four user-level libraries side by side", help: perfLibrariesHelp,
			run:   measureLibraries,
			flags: here + " size=8,32,128,512,2048,8192,32768,131072,524288,1048576 vs=openmpi rounds=5 json svg",
			of:    map[string][]string{"transport": real, "vs": perf.Names},
		},
		{
			name: "buffers", short: "memory of the libraries for messages, by the number of processes",
			help: perfBuffersHelp, run: measureBuffers, flags: "ns=2,4,8,16,32,64 " + here + " json",
			of: map[string][]string{"transport": real}, from: map[string][2]int{"ns": {2, 256}},
		},
		perfFlow(real), perfEthernet(real),
		{
			name: "sharing", short: "how ranks and TCP share the link to one host", help: perfSharingHelp,
			run: measureSharing, flags: "n=2 size=1048576 transport=udp tcp=cubic flows=1 for=5s json",
			of: map[string][]string{"transport": real[1:]}, from: map[string][2]int{"size": {1, 1 << 30}},
		},
		{
			name: "breakdown", short: "where the time of a message between two hosts goes", help: breakdownHelp,
			run: measureBreakdown, flags: "rounds=5 svg json",
		},
	}
}

func perfCommand() *ffcli.Command {
	c := &ffcli.Command{
		Name: "perf", ShortUsage: "weftlab perf TEST [FLAGS]", ShortHelp: "measure weft and its peers", LongHelp: perfHelp,
	}
	for _, t := range perfTests() {
		c.Subcommands = append(c.Subcommands, t.command())
	}
	c.Subcommands = append(c.Subcommands, perfServicesCommand())
	c.Exec = func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return flag.ErrHelp
		}
		var names []string
		for _, sub := range c.Subcommands {
			names = append(names, sub.Name)
		}
		return fmt.Errorf("perf: there is no test %q; there are %s", args[0], strings.Join(names, ", "))
	}
	return c
}

// measure measures weft's messages beside its peers.
func measure(ctx context.Context, s *perfSettings) error {
	for _, n := range s.spec.Sizes {
		if s.spec.Op == "put" && n > weft.MaxPut {
			return fmt.Errorf("perf: -op put takes up to %d bytes, not %d: use -size 8 or -op push", weft.MaxPut, n)
		}
	}
	if err := s.spec.CheckPattern(); err != nil {
		return err
	}
	systems := append([]perf.System{perf.Weft}, s.systems...)
	results := perf.Measure(ctx, s.spec, systems, progress())
	if s.spec.Test == "alltoall" {
		results = append(results, pairs(ctx, s.spec)...)
	}
	if err := report(s, results, table, nil); err != nil {
		return err
	}
	return failures(results)
}

// pairs measures as many messages as alltoall sends, between two ranks.
func pairs(ctx context.Context, s perf.Spec) []perf.Result {
	s.Exchanges *= s.N * (s.N - 1) / 2
	s.N = 2
	results := perf.Measure(ctx, s, []perf.System{perf.Weft}, progress())
	for i := range results {
		results[i].System = "weft, 2 ranks"
	}
	return results
}

// failures returns an error if a measurement of weft itself failed; peers may fail.
func failures(results []perf.Result) error {
	for _, r := range results {
		if r.Error != "" && r.System == "weft" {
			return fmt.Errorf("%s", r.Error)
		}
	}
	return nil
}

// table prints results as text, each compared with weft.
func table(results []perf.Result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "size\tsystem\top\tmedian\tp99\tp99.9\tCPU/op\tweft is")
	base := map[int]perf.Result{}
	for _, r := range results {
		name := r.System
		if r.System == "weft" {
			base[r.Size] = r
			name += " (" + r.Transport + ")"
		}
		switch {
		case r.Absent:
			fmt.Fprintf(w, "%d\t%s\tabsent: apt-get install %s\n", r.Size, name, r.Package)
			continue
		case r.Error != "":
			fmt.Fprintf(w, "%d\t%s\tfailed: %s\n", r.Size, name, r.Error)
			continue
		}
		v, unit, less := r.Figure()
		fmt.Fprintf(w, "%d\t%s\t%s\t%.4g %s\t%s\t%s\t%s\t%s\n", r.Size, name, r.Op, v, unit,
			micros(r.P99), micros(r.P999), micros(r.CPU), timesAsFast(base[r.Size], v, less, r.System))
	}
}

func micros(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g us", v)
}

// timesAsFast returns how many times as fast as another system weft is.
func timesAsFast(weft perf.Result, v float64, less bool, system string) string {
	w, _, _ := weft.Figure()
	if system == "weft" || w == 0 || v == 0 {
		return ""
	}
	ratio := w / v
	if less {
		ratio = v / w
	}
	return fmt.Sprintf("%.2f times as fast", ratio)
}
