package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/engine/coord"
	"weft/internal/sim"
	"weft/lab/barrierplan"
	"weft/lab/hwmodel"
)

const simBarrierHelp = `Runs the barrier algorithms on simulated networks, without engines, and compares the
results with the formulas: the number of messages, messages and hops in sequence, and
the time from the arrival of all ranks at once until the last may go on. The bound is
that time if no message had to wait for another on a link.

-model etl is the network of [Hayakawa98] (docs/REFERENCES.md): a torus whose nodes have
an event link of 100 Mbps to each neighbour, on which an event packet of 16 bytes takes
3 us a hop. It also prints the aligned start, which is how long each node waits after the
master's packet has arrived. The master sends one packet after the other, to the farthest
node first; the waits follow from exact flight times, so that no skew is left.

Printed is the modified shuffle exchange by the steps of [Hayakawa98] as they are printed,
on a torus of rows and columns; its last columns say how many nodes never go on, how many
of them wait for a notification that nobody sends, and how many go on too early. Paper is
the algorithm that the paper chooses for the number of nodes: shuffle up to 16, modified
up to 36, central for more.

-data SIZE lets each node of that network begin to send SIZE bytes to each neighbour when
the barrier begins, in data packets of 64 bytes: on the data link, as in the paper; on the
event link, a packet at a time, as weft sends long messages; and on the event link, all at
once before the events.

EXAMPLES
  weftlab sim barrier
  weftlab sim barrier -n 2,16,256,4096,65536 -topology fattree:16 -svg barriers.svg
  weftlab sim barrier -model etl -n 36 -algorithm modified,central
  weftlab sim barrier -model etl -n 36 -algorithm modified -data 65536
  weftlab sim barrier -model etl -n 25,36 -algorithm printed,modified
  weftlab sim barrier -model etl -n 9,25,64 -algorithm paper
  weftlab sim barrier -model etl -n 36 -algorithm modified -size 40
  weftlab sim barrier -n 4096 -topology crossbar -algorithm dissemination -json`

// planned are the algorithms that are message plans, by their names.
var planned = map[string]coord.Algorithm{
	"central": coord.Central, "tree": coord.Tree, "dissemination": coord.Dissemination, "shuffle": coord.Shuffle,
	"modified": coord.ModifiedShuffle, "printed": coord.ModifiedShuffle,
	"paper": coord.Shuffle, // or another: barrierplan.Chosen
}

// barrierRow is a line of -json.
type barrierRow struct {
	Test      string  `json:"test"` // sim-barrier
	Algorithm string  `json:"algorithm"`
	Data      string  `json:"data,omitempty"` // on which links data moves meanwhile
	Topology  string  `json:"topology"`
	N         int     `json:"n"`
	Messages  int     `json:"messages"`
	Steps     int     `json:"steps"`
	Formula   int     `json:"formula_steps"`
	Hops      uint64  `json:"hops"`
	Longest   int     `json:"longest_hops"`
	Time      float64 `json:"time_us"`
	Bound     float64 `json:"bound_us"`
	Skew      float64 `json:"skew_us"`
	Stuck     int     `json:"stuck,omitempty"`
	Unpaired  int     `json:"unpaired,omitempty"`
	Early     int     `json:"early,omitempty"`
}

type simBarrierFlags struct {
	ranks, topologies, algorithms, link, model, svg string
	size, arity, data                               int
	json                                            bool
}

func simBarrierCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim barrier", flag.ContinueOnError)
	f := &simBarrierFlags{}
	fs.StringVar(&f.ranks, "n", "2,4,8,16,36,64,256,1024,4096", "numbers of ranks, with commas")
	fs.StringVar(&f.topologies, "topology", "torus,fattree:8",
		"with commas: torus (as square as may be), or what weft sim -topology takes")
	fs.StringVar(&f.algorithms, "algorithm", "central,tree,dissemination,modified",
		"with commas: central, tree, dissemination, shuffle, modified, printed, paper")
	fs.StringVar(&f.link, "link", "10Gbps,1us", "bandwidth and delay of each link")
	fs.IntVar(&f.size, "size", 0, "bytes of a message; 0: 104, a frame of 40 and a header of 64, or with -model etl 16")
	fs.IntVar(&f.arity, "arity", 2, "of trees")
	fs.StringVar(&f.model, "model", "", "etl: the network of [Hayakawa98]")
	fs.IntVar(&f.data, "data", 0, "with -model etl: bytes that each node sends to each neighbour meanwhile")
	fs.StringVar(&f.svg, "svg", "", "draw the times to this file")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "barrier", ShortUsage: "weftlab sim barrier [FLAGS]", ShortHelp: "barriers on networks of any size",
		LongHelp: simBarrierHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error { return f.run() },
	}
}

func (f *simBarrierFlags) run() error {
	wire, err := sim.ParseWire(f.link)
	switch {
	case err != nil:
		return err
	case f.model == "etl":
		wire = etlWire()
		f.size = cmp.Or(f.size, hwmodel.EventSize)
		f.topologies = "torus"
	case f.model != "":
		return fmt.Errorf("sim barrier: -model %q: there is etl", f.model)
	}
	if f.data != 0 && (f.model != "etl" || f.data < 0 || f.data > 1<<24) {
		return fmt.Errorf("sim barrier: -data %d: must be from 1 to %d, with -model etl", f.data, 1<<24)
	}
	f.size = cmp.Or(f.size, 104)
	var rows []barrierRow
	for _, top := range words(f.topologies) {
		for _, name := range words(f.algorithms) {
			for _, w := range words(f.ranks) {
				n, err := strconv.Atoi(w)
				if err != nil || n < 1 || n > 1<<20 {
					return fmt.Errorf("sim barrier: -n %q: must be numbers from 1 to %d", f.ranks, 1<<20)
				}
				a, ok := planned[name]
				if !ok {
					return fmt.Errorf("sim barrier: -algorithm %q: there are central, tree, dissemination, shuffle, modified, "+
						"printed and paper", name)
				}
				if name == "paper" {
					a = barrierplan.Chosen(n)
				}
				for _, beside := range f.besides() {
					r, err := barrierplan.Run(barrierplan.Case{
						Algorithm: a, N: n, Arity: f.arity, Topology: top, Wire: wire, Size: f.size, Data: beside.data,
						Printed: name == "printed",
					})
					if err != nil {
						return err
					}
					rows = append(rows, barrierRow{
						"sim-barrier", name, beside.links, r.Topology, n, r.Messages, r.Steps, formula(a, n, f.arity), r.Hops, r.Longest,
						micro(r.Time), micro(r.Bound), micro(r.Skew), r.Stuck, r.Unpaired, r.Early,
					})
				}
			}
		}
	}
	if f.svg != "" {
		if err := drawBarriers(f.svg, rows); err != nil {
			return err
		}
	}
	if f.json {
		return cli.PrintJSON(rows)
	}
	f.print(rows)
	return nil
}

// etlWire is the event link of [Hayakawa98]: an event packet takes EventHop, and occupies the link for a part of
// it.
func etlWire() sim.Wire {
	w := sim.Wire{Bandwidth: hwmodel.EventLink}
	w.Delay = hwmodel.EventHop - w.Takes(hwmodel.EventSize)
	return w
}

// A beside is what moves on the network besides the barrier's messages, and on which links.
type beside struct {
	links string
	data  barrierplan.Data
}

// besides returns what is to be compared: nothing, unless -data says more.
func (f *simBarrierFlags) besides() []beside {
	if f.data == 0 {
		return []beside{{}}
	}
	d := barrierplan.Data{Bytes: f.data, Packet: hwmodel.DataSize, Payload: hwmodel.DataPayload}
	own := d
	paced := d
	own.Wire = sim.Wire{Bandwidth: hwmodel.DataLink, Delay: etlWire().Delay}
	paced.Paced = true
	return []beside{{"none", barrierplan.Data{}}, {"data link", own}, {"event link, by packets", paced},
		{"event link, all at once", d}}
}

func micro(d time.Duration) float64 { return float64(d) / 1000 }

// formula returns how many messages follow each other, as the algorithms'
// descriptions say.
func formula(a coord.Algorithm, n, arity int) int {
	switch {
	case n == 1:
		return 0
	case a == coord.Central:
		return 2
	case a == coord.Tree:
		depth := 0
		for last := n - 1; last > 0; last = (last - 1) / arity {
			depth++
		}
		return 2 * depth
	case a == coord.Shuffle:
		core := 1 << (bits.Len(uint(n)) - 1)
		steps := bits.Len(uint(core - 1))
		if n > core { // satellites
			steps++
		}
		if n-core > core/2 { // the members that are farthest apart both have one
			steps++
		}
		return steps
	case a == coord.ModifiedShuffle:
		rows, columns := coord.Torus(n)
		ring := func(length int) int { // pair, edge and relay
			if length < 3 {
				return length - 1
			}
			return 3
		}
		steps := ring(rows) + ring(columns)
		if n > rows*columns {
			steps += 2
		}
		return steps
	default:
		return bits.Len(uint(n - 1))
	}
}

func (f *simBarrierFlags) print(rows []barrierRow) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "algorithm\tdata on\ttopology\tranks\tmessages\tsteps (formula)\t"+
		"hops\tlongest path\ttime\tbound\ttime/bound\tskew\tstuck, unpaired, early")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d (%d)\t%d\t%d hops\t%.4g us\t%.4g us\t%.2f\t%.4g us\t%d, %d, %d\n",
			r.Algorithm, cmp.Or(r.Data, "-"), r.Topology, r.N, r.Messages, r.Steps, r.Formula, r.Hops, r.Longest, r.Time,
			r.Bound, r.Time/max(r.Bound, 1e-9), r.Skew, r.Stuck, r.Unpaired, r.Early)
	}
	if f.model != "etl" {
		return
	}
	for _, word := range words(f.ranks) {
		n, _ := strconv.Atoi(word)
		var rows, columns int
		_, _ = fmt.Sscanf(barrierplan.SquareTorus(n), "torus:%dx%d", &rows, &columns)
		slot := etlWire().Takes(hwmodel.EventSize)
		fmt.Fprintf(w, "\naligned start on %d × %d, master 0: waits after hearing, in us, if the master's packets leave one "+
			"after the other, %.4g us each\n(if all left at once: %.4g us for each hop that a node is nearer than the "+
			"farthest)\n", rows, columns, micro(slot), micro(hwmodel.EventHop))
		waits := hwmodel.AlignedStart(rows, columns, 0, hwmodel.EventHop, slot)
		for r := range rows {
			var line []string
			for c := range columns {
				line = append(line, fmt.Sprint(micro(waits[r*columns+c])))
			}
			fmt.Fprintln(w, "  "+strings.Join(line, "\t"))
		}
	}
}

// drawBarriers draws the time against the number of ranks: a chart for each kind of network, with a
// line for each algorithm.
func drawBarriers(file string, rows []barrierRow) error {
	var charts []*chart
	byKind := map[string]*chart{}
	for _, r := range rows {
		kind, _, _ := strings.Cut(r.Topology, ":")
		c := byKind[kind]
		if c == nil {
			c = &chart{title: "Barrier on a simulated " + kindName(kind), x: "ranks", y: "time, µs"}
			byKind[kind] = c
			charts = append(charts, c)
		}
		if r.Time > 0 {
			line := r.Algorithm
			if r.Data != "" {
				line += ", data: " + r.Data
			}
			c.add(line, float64(r.N), r.Time)
		}
	}
	return saveCharts(file, charts)
}

// kindName returns a kind of network in words.
func kindName(kind string) string {
	if kind == "fattree" {
		return "fat tree"
	}
	return kind
}
