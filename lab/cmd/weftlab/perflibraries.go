package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf"
)

const perfLogPHelp = `Splits the time of a message into the parameters of the LogP model, between two ranks,
for weft's messages (send), for PUSH, and for the four libraries am, fm, vmmc and pm.
The method is that of [Culler96] (docs/REFERENCES.md). All times are in microseconds:

  o_s        processor time of a send: from bursts of 4 requests to an idle receiver
  o_r        processor time of a receive: from long bursts, with computing after each request
  g          least time between two messages: from long bursts
  L          what is left of half a round trip: the time on the way
  o_s+L+o_r  the time of a message, as the model has it
  one way    the same, measured by the clock that both ranks read
  off        how far the model is from the measurement; more than 10 % means a busy machine

Every round measures all of -way over all of -transport; the table has the medians. Sizes
are multiples of 8 bytes.

EXAMPLES
  weftlab perf logp
  weftlab perf logp -way send,pm -transport shm -rounds 9
  weftlab lab -- weftlab perf logp -transport eth -json
  weftlab perf logp -svg logp.svg`

const perfLibrariesHelp = `Measures latency, bandwidth and overhead of the four user-level libraries, of
weft's own messages (weft) and PUSH, and of Open MPI, from 8 bytes to 1 MiB, and
the length at which each reaches half of its bandwidth, as [Konishi97] does (see
docs/REFERENCES.md). The drawing has the paper's figures for this machine: bandwidth of moving and of
copying memory (2 and 3), latency, overhead, bandwidth (4 to 6), and bandwidth
relative to a copy of the same length (in the place of 7).

EXAMPLES
  weftlab perf libraries -svg libraries.svg
  weftlab perf libraries -size 8,8192,1048576 -rounds 9 -json
  weftlab lab -- weftlab perf libraries -transport eth`

func perfLogPCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf logp", flag.ContinueOnError)
	f := &perfFlags{spec: perf.Spec{Test: "logp", Op: "send"}}
	transports := fs.String("transport", strings.Join(perf.Transports(), ","),
		"transports, with commas: shm, eth, udp, tcp")
	ways := fs.String("way", strings.Join(perf.Ways, ","), "what to measure, with commas")
	fs.StringVar(&f.sizes, "size", "8", "sizes in bytes, with commas")
	fs.IntVar(&f.spec.Rounds, "rounds", 5, "rounds")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	svg := fs.String("svg", "", "draw the parts into this file")
	return &ffcli.Command{
		Name: "logp", ShortUsage: "weftlab perf logp [FLAGS]",
		ShortHelp: "overhead, gap and latency of weft and the libraries on it",
		LongHelp:  perfLogPHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("perf logp", args[0])
			}
			return f.logp(ctx, words(*ways), words(*transports), *svg)
		},
	}
}

func (f *perfFlags) logp(ctx context.Context, ways, transports []string, svg string) error {
	if err := f.eights("logp"); err != nil {
		return err
	}
	for _, way := range ways {
		if !slices.Contains(perf.Ways, way) {
			return fmt.Errorf("perf logp: -way %q: there are %s", way, strings.Join(perf.Ways, ", "))
		}
	}
	results := perf.MeasureLogP(ctx, f.spec, ways, transports, cli.Progress())
	if f.json {
		if err := cli.PrintJSON(results); err != nil {
			return err
		}
	} else {
		logpTable(results)
	}
	if svg != "" {
		if err := logpChart(results, svg); err != nil {
			return err
		}
	}
	for _, l := range results {
		if l.Error != "" {
			return fmt.Errorf("perf logp: %s over %s: %s", l.Way, l.Transport, l.Error)
		}
	}
	return nil
}

// eights checks the sizes: a message that is written to memory ends with a word.
func (f *perfFlags) eights(name string) error {
	if _, err := f.check(); err != nil {
		return err
	}
	for _, n := range f.spec.Sizes {
		if n < 8 || n%8 != 0 {
			return fmt.Errorf("perf %s: -size %d: must be a multiple of 8, from 8 on", name, n)
		}
	}
	if f.spec.Rounds < 1 {
		return fmt.Errorf("perf %s: -rounds %d: must be at least 1", name, f.spec.Rounds)
	}
	return nil
}

func logpTable(results []perf.LogP) {
	cli.ProgressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "transport\tsize\tway\to_s\to_r\tg\tL\to_s+L+o_r\tone way\toff")
	for _, l := range results {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\t%d\t%s\tfailed: %s\n", l.Transport, l.Size, l.Way, l.Error)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f us\t%+.0f %%\n",
			l.Transport, l.Size, l.Way, l.Send, l.Receive, l.Gap, l.Latency, l.Sum, l.OneWay, 100*l.Off)
	}
}

// logpChart draws the overhead, the gap and the latency of each way against the size, or for one size the ways in turn.
func logpChart(results []perf.LogP, file string) error {
	var charts []*chart
	for _, part := range []struct {
		name string
		of   func(l *perf.LogP) float64
	}{
		{"o_s + o_r", (*perf.LogP).Overhead},
		{"g", func(l *perf.LogP) float64 { return l.Gap }},
		{"L", func(l *perf.LogP) float64 { return l.Latency }},
		{"one way", func(l *perf.LogP) float64 { return l.OneWay }},
	} {
		c := &chart{title: part.name, x: bytesAxis, y: "time, µs"}
		for i := range results {
			if l := &results[i]; l.Error == "" && part.of(l) > 0 {
				c.add(l.Way+" over "+l.Transport, float64(l.Size), part.of(l))
			}
		}
		charts = append(charts, c)
	}
	return saveCharts(file, charts)
}

func perfLibrariesCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf libraries", flag.ContinueOnError)
	f := &perfFlags{spec: perf.Spec{Test: "libraries", Op: "send"}}
	fs.StringVar(&f.spec.Transport, "transport", perf.Transports()[0], "shm, eth, udp or tcp")
	fs.StringVar(&f.sizes, "size", "8,32,128,512,2048,8192,32768,131072,524288,1048576", "sizes in bytes, with commas")
	fs.StringVar(&f.vs, "vs", "openmpi", "peers to measure in the same run: "+strings.Join(perf.Names, ","))
	fs.IntVar(&f.spec.Rounds, "rounds", 5, "rounds")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	svg := fs.String("svg", "", "draw the figures of [Konishi97], for this machine, into this file")
	return &ffcli.Command{
		Name: "libraries", ShortUsage: "weftlab perf libraries [FLAGS]", ShortHelp: "the four user-level libraries side by side",
		LongHelp: perfLibrariesHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if len(args) > 0 {
				return cli.Unexpected("perf libraries", args[0])
			}
			return f.libraries(ctx, *svg)
		},
	}
}

func (f *perfFlags) libraries(ctx context.Context, svg string) error {
	if err := f.eights("libraries"); err != nil {
		return err
	}
	systems, err := f.check()
	if err != nil {
		return err
	}
	moves := perf.MeasureMoves(f.spec.Sizes)
	reach := perf.MeasureLibraries(ctx, f.spec, systems[1:], cli.Progress())
	if f.json {
		if err := cli.PrintJSON(moves); err != nil {
			return err
		}
		if err := cli.PrintJSON(reach); err != nil {
			return err
		}
	} else {
		librariesTable(f.spec.Sizes, moves, reach)
	}
	if svg != "" {
		if err := librariesChart(moves, reach, svg); err != nil {
			return err
		}
	}
	for _, r := range reach {
		if r.Error != "" {
			return fmt.Errorf("perf libraries: %s: %s", r.System, r.Error)
		}
	}
	return nil
}

func librariesTable(sizes []int, moves []perf.Move, reach []perf.Reach) {
	cli.ProgressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, figure := range []struct {
		name, unit string
		of         func(r *perf.Reach) []float64
	}{
		{"latency", "us", func(r *perf.Reach) []float64 { return r.Latency }},
		{"overhead", "us", func(r *perf.Reach) []float64 { return r.Overhead }},
		{"bandwidth", "MB/s", func(r *perf.Reach) []float64 { return r.MBs }},
	} {
		fmt.Fprintf(w, "%s (%s)", figure.name, figure.unit)
		for i := range reach {
			fmt.Fprintf(w, "\t%s", reach[i].System)
		}
		fmt.Fprintln(w)
		for at, size := range sizes {
			fmt.Fprintf(w, "%d", size)
			for i := range reach {
				fmt.Fprintf(w, "\t%s", atOr(figure.of(&reach[i]), at))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "n 1/2 (bytes)")
	for i := range reach {
		fmt.Fprintf(w, "\t%.0f", reach[i].Half)
	}
	fmt.Fprintln(w)
	for _, m := range moves {
		fmt.Fprintf(w, "%s (MB/s)\t%d B: %s\t%d B: %s\n", m.Name, sizes[0], atOr(m.MBs, 0), sizes[len(sizes)-1],
			atOr(m.MBs, len(sizes)-1))
	}
	for _, r := range reach {
		switch {
		case r.Absent:
			fmt.Fprintf(w, "%s\tabsent: apt-get install %s\n", r.System, r.Package)
		case r.Error != "":
			fmt.Fprintf(w, "%s\tfailed: %s\n", r.System, r.Error)
		}
	}
}

func atOr(v []float64, i int) string {
	if i >= len(v) {
		return "-"
	}
	return fmt.Sprintf("%.4g", v[i])
}

// librariesChart draws figures 2 to 7 of [Konishi97] for this machine.
func librariesChart(moves []perf.Move, reach []perf.Reach, file string) error {
	moved := &chart{title: "Figure 2: moving memory between processes", x: bytesAxis, y: "bandwidth, MB/s"}
	copied := &chart{title: "Figure 3: copying memory in one process", x: bytesAxis, y: "bandwidth, MB/s"}
	for _, m := range moves {
		c := moved
		if m.Copy {
			c = copied
		}
		for i, v := range m.MBs {
			c.add(m.Name, float64(m.Sizes[i]), v)
		}
	}
	latency := &chart{title: "Figure 4: latency, one way", x: bytesAxis, y: "latency, µs"}
	overhead := &chart{title: "Figure 5: overhead, o_s + o_r", x: bytesAxis, y: "processor time, µs"}
	bandwidth := &chart{title: "Figure 6: bandwidth, one way", x: bytesAxis, y: "bandwidth, MB/s"}
	share := &chart{title: "In place of figure 7: bandwidth relative to a copy", x: bytesAxis, y: "share of a copy's"}
	for _, r := range reach {
		for i, size := range r.Sizes {
			x := float64(size)
			for _, line := range []struct {
				c *chart
				v []float64
			}{{latency, r.Latency}, {overhead, r.Overhead}, {bandwidth, r.MBs}} {
				if i < len(line.v) && line.v[i] > 0 {
					line.c.add(r.System, x, line.v[i])
				}
			}
			if i < len(r.MBs) && r.MBs[i] > 0 && len(moves) > 0 && i < len(moves[0].MBs) {
				share.add(r.System, x, r.MBs[i]/moves[0].MBs[i])
			}
		}
	}
	return saveCharts(file, []*chart{moved, copied, latency, overhead, bandwidth, share})
}
