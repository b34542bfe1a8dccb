package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"weft"
	"weft/lab/perf"
)

const perfFlowHelp = `Compares the flow controls of package weft where two ranks send to a third whose program
is slow: it works for 20 us and 3 ns a byte after each message, and its buffer of 128 KiB
holds half of what is sent, or less. Keys such as [Miyawaki01] are those of docs/REFERENCES.md.

  room  weft's own: the receiver states its room, and calls the senders that it has refused
  acks  each message is acknowledged; what was refused is sent again later [Miyawaki01]
  nack  the sender sends until it is refused, and again every 50 us, as PM does [Konishi97]
  stop  each message is acknowledged; a refusal stops the sender until GO [Sumimoto00]

The columns: time until the receiver had all messages, packets that all three have sent,
bytes in them, and refusals; each by message. Sim is the simulator, whose figures are the
same every time; the other transports run real processes.

EXAMPLES
  weftlab perf flow -svg flow.svg
  weftlab lab -hosts 3 -- weftlab perf flow -transport sim,eth -json`

// perfFlow is the row of perfTests. It takes the transports of real ranks, and the simulator.
func perfFlow(real []string) perfTest {
	return perfTest{
		name: "flow", short: "flow controls, where the receiver is slow", help: perfFlowHelp, run: measureFlow,
		flags: "transports=sim size=8,1024,65536 json svg", of: map[string][]string{"transports": append(real, "sim")},
		from: map[string][2]int{"size": {1, 64 << 10}},
	}
}

// measureFlow measures each flow control over each transport with each size.
func measureFlow(ctx context.Context, s *perfSettings) error {
	var rows []perf.Flow
	for _, transport := range s.transports {
		for _, size := range s.spec.Sizes {
			for _, control := range weft.FlowControls() {
				rows = append(rows, perf.MeasureFlow(ctx, control, transport, size))
			}
		}
	}
	if err := report(s, rows, flowTable, flowChart); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Error != "" {
			return fmt.Errorf("perf flow: %s over %s, %d bytes: %s", r.Control, r.Transport, r.Size, r.Error)
		}
	}
	return nil
}

func flowTable(rows []perf.Flow) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "transport\tsize\tflow control\ttime\tpackets\tbytes\trefused")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%s\t%.4g us\t%.3g\t%.5g\t%.3g\n", r.Transport, r.Size, r.Control, r.Time, r.Packets, r.Bytes,
			r.Refused)
	}
}

// flowChart draws the figures against the size, a line for each flow control.
func flowChart(rows []perf.Flow, file string) error {
	charts := []*chart{
		{title: "Time of a message to a slow receiver", x: bytesAxis, y: "time, µs"},
		{title: "Packets of a message to a slow receiver", x: bytesAxis, y: "packets"},
		{title: "Refusals of a message by a slow receiver", x: bytesAxis, y: "refusals"},
	}
	for _, r := range rows {
		for i, v := range []float64{r.Time, r.Packets, r.Refused} {
			charts[i].add(r.Control+", "+r.Transport, float64(r.Size), v)
		}
	}
	return saveCharts(file, charts)
}
