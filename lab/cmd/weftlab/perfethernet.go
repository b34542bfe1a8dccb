package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"weft/lab/perf"
)

const perfEthernetHelp = `Measures what [Sumimoto00] (docs/REFERENCES.md) draws in its figures 4 to 6: bandwidth and
latency by length, with TCP beside, and the speed-up of Integer Sort, class A, by hosts.

  reaping    the receiver polls, and brings the packets itself
  interrupt  the receiver polls its memory, and an interrupt brings the packets: what the
             paper calls without reaping
  asleep     the receiver sleeps until a message comes
  TCP, UDP   Go's sockets
  ICMP       the other kernel answers
  IP         packets of IP that a program sends back
  data link  frames that a program sends back, or counts, without any protocol

UDP, ICMP, IP and the data link are for the paper's table 2, whose round trips are twice these
times. The last three need root.

EXAMPLES
  weftlab lab -hosts 8 -- weftlab perf pmethernet -svg pmethernet.svg
  weftlab lab -- weftlab perf pmethernet -size 8,1024 -n 1,2 -rounds 1 -json`

// perfEthernet is the row of perfTests.
func perfEthernet(real []string) perfTest {
	return perfTest{
		name: "pmethernet", short: "the figures of PM/Ethernet, on this machine", help: perfEthernetHelp,
		run: measureEthernet, flags: "transport=eth size=8,32,128,512,1024,1440,8192,65536 ns=1,2,4,8 rounds=3 json svg",
		of: map[string][]string{"transport": real}, from: map[string][2]int{"size": {1, 1 << 20}},
	}
}

func measureEthernet(ctx context.Context, s *perfSettings) error {
	s.spec.Class = "A"
	points := perf.MeasureEthernet(ctx, s.spec, s.ranks, progress())
	if err := report(s, points, ethernetTable, ethernetChart); err != nil {
		return err
	}
	for _, p := range points {
		if p.Error != "" {
			return fmt.Errorf("perf pmethernet: %s, %s, %d: %s", p.Figure, p.Line, p.X, p.Error)
		}
	}
	return nil
}

func ethernetTable(points []perf.EthernetPoint) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for i, p := range points {
		if i == 0 || p.Figure != points[i-1].Figure {
			fmt.Fprintf(w, "%s\t\t\n", p.Figure)
		}
		if p.Error != "" {
			fmt.Fprintf(w, "%s\t%d\t%s\n", p.Line, p.X, p.Error)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.4g %s\n", p.Line, p.X, p.Value, p.Unit)
	}
}

// ethernetChart draws the three figures.
func ethernetChart(points []perf.EthernetPoint, file string) error {
	charts := map[string]*chart{
		"bandwidth": {title: "Figure 4: bandwidth", x: bytesAxis, y: "bandwidth, MB/s"},
		"latency":   {title: "Figure 5: time one way", x: bytesAxis, y: "time, µs"},
		"speedup":   {title: "Figure 6: Integer Sort, class A", x: "hosts", y: "speed-up"},
	}
	for _, p := range points {
		if p.Error == "" {
			charts[p.Figure].add(p.Line, float64(p.X), p.Value)
		}
	}
	return saveCharts(file, []*chart{charts["bandwidth"], charts["latency"], charts["speedup"]})
}
