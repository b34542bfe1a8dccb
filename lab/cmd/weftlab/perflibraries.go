package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

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

func measureLogP(ctx context.Context, s *perfSettings) error {
	if err := eights(s.spec); err != nil {
		return err
	}
	s.spec.Op = "send"
	results := perf.MeasureLogP(ctx, s.spec, s.ways, s.transports, progress())
	if err := report(s, results, logpTable, logpChart); err != nil {
		return err
	}
	for _, l := range results {
		if l.Error != "" {
			return fmt.Errorf("perf logp: %s over %s: %s", l.Way, l.Transport, l.Error)
		}
	}
	return nil
}

// eights checks the sizes: a message that is written to memory ends with a word.
func eights(s perf.Spec) error {
	for _, n := range s.Sizes {
		if n < 8 || n%8 != 0 {
			return fmt.Errorf("perf %s: -size %d: must be a multiple of 8, from 8 on", s.Test, n)
		}
	}
	return nil
}

func logpTable(results []perf.LogP) {
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

func measureLibraries(ctx context.Context, s *perfSettings) error {
	if err := eights(s.spec); err != nil {
		return err
	}
	s.spec.Op = "send"
	moves := perf.MeasureMoves(s.spec.Sizes)
	reach := perf.MeasureLibraries(ctx, s.spec, s.systems, progress())
	if s.json {
		if err := cli.PrintJSON(moves); err != nil {
			return err
		}
	}
	table := func(reach []perf.Reach) { librariesTable(s.spec.Sizes, moves, reach) }
	draw := func(reach []perf.Reach, file string) error { return librariesChart(moves, reach, file) }
	if err := report(s, reach, table, draw); err != nil {
		return err
	}
	for _, r := range reach {
		if r.Error != "" {
			return fmt.Errorf("perf libraries: %s: %s", r.System, r.Error)
		}
	}
	return nil
}

func librariesTable(sizes []int, moves []perf.Move, reach []perf.Reach) {
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
