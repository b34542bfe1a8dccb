package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/cli"
	"weft/lab/advise"
	"weft/mpi"
)

const amtChartHelp = `Shows how the receive memory of a rank grows with the size of the job: as advised from a
trace, and with a ring for every rank. The program is one step of a solver on simulated
clusters of many sizes: a cube is cut into blocks, each block sends its faces to its six
neighbours, and an all-reduce follows. A simulated rank takes 4 MiB of this machine's
memory: 4,096 ranks need 16 GiB.

EXAMPLES
  weftlab amt chart
  weftlab amt chart -n 8,64,512 -svg memory.svg
  weftlab amt chart -ring 16KiB -json`

// chartRow is a line of -json.
type chartRow struct {
	Test      string        `json:"test"` // amt-chart
	Ranks     int           `json:"ranks"`
	Blocks    string        `json:"blocks"`
	Partners  advise.Spread `json:"partners"`
	Dedicated int           `json:"dedicated_bytes"`
	Advised   advise.Spread `json:"advised_bytes"`
	Reduction float64       `json:"reduction_percent"`
}

type amtChartFlags struct {
	ranks, svg string
	ring       size
	json       bool
}

func amtChartCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab amt chart", flag.ContinueOnError)
	f := &amtChartFlags{ring: advise.DefaultRing}
	fs.StringVar(&f.ranks, "n", "8,16,32,64,128,256,512", "numbers of ranks, with commas")
	fs.Var(&f.ring, "ring", "size of every ring, a power of two")
	fs.StringVar(&f.svg, "svg", "", "draw the memory against the ranks to this file")
	fs.BoolVar(&f.json, "json", false, "print one JSON object for each number of ranks")
	return &ffcli.Command{
		Name: "chart", ShortUsage: "weftlab amt chart [FLAGS]",
		ShortHelp: "receive memory against the number of ranks, simulated",
		LongHelp:  amtChartHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("amt chart: %q: it takes flags only", args[0])
			}
			return f.run(ctx)
		},
	}
}

func (f *amtChartFlags) run(ctx context.Context) error {
	var rows []chartRow
	for _, word := range words(f.ranks) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 || n > 1<<16 {
			return fmt.Errorf("amt chart: -n %q: must be numbers of ranks from 2 to %d", word, 1<<16)
		}
		r, err := f.simulate(ctx, n)
		if err != nil {
			return fmt.Errorf("amt chart: %d ranks: %w", n, err)
		}
		rows = append(rows, r)
	}
	if f.svg != "" {
		if err := drawMemory(f.svg, rows); err != nil {
			return err
		}
	}
	if f.json {
		return cli.PrintJSON(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ranks\tblocks\tpartners\ta ring for all\tadvised AMT\treduction")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\t%.1f %%\n", r.Ranks, r.Blocks, r.Partners.Most, bytesText(r.Dedicated),
			bytesText(r.Advised.Most), r.Reduction)
	}
	return w.Flush()
}

// simulate runs the step on so many ranks.
func (f *amtChartFlags) simulate(ctx context.Context, n int) (r chartRow, err error) {
	blocks := cube(n)
	var recorded bytes.Buffer
	_, err = weft.Simulate(ctx, weft.Cluster{Ranks: n, Trace: &recorded}, func(ctx context.Context, p *weft.Proc) error {
		return haloStep(ctx, p, blocks)
	})
	if err != nil {
		return r, err
	}
	parts, err := advise.ReadParts(&recorded)
	if err != nil {
		return r, err
	}
	t, err := advise.NewTrace(parts)
	if err != nil {
		return r, err
	}
	a, err := advise.Advise(t, advise.Options{Ring: int(f.ring)})
	if err != nil {
		return r, err
	}
	all := advise.Memories(t, a, int(f.ring))
	r = chartRow{
		Test: "amt-chart", Ranks: n, Blocks: fmt.Sprintf("%d × %d × %d", blocks[0], blocks[1], blocks[2]),
		Dedicated: n * int(f.ring),
		Partners:  advise.SpreadOf(all, func(m *advise.Memory) int { return m.Partners }),
		Advised:   advise.SpreadOf(all, func(m *advise.Memory) int { return m.Bytes }),
	}
	r.Reduction = advise.Reduction(r.Advised.Most, r.Dedicated)
	return r, nil
}

// cube returns the sides of the n blocks that are most nearly a cube.
func cube(n int) (best [3]int) {
	for a := 1; a*a*a <= n; a++ {
		for b := a; n%a == 0 && a*b*b <= n; b++ {
			if n/a%b == 0 && (best[0] == 0 || n/a/b-a < best[2]-best[0]) {
				best = [3]int{a, b, n / a / b}
			}
		}
	}
	return best
}

// face is how many values a face of a block has.
const face = 32 * 32

// haloStep is one step of a program on blocks: faces go to the neighbours, round
// the cube, and a sum to all.
func haloStep(ctx context.Context, p *weft.Proc, blocks [3]int) error {
	g := mpi.World(p)
	out := make([]float64, face)
	in := make([]float64, face)
	stride := 1
	for _, side := range blocks {
		at := p.Rank() / stride % side
		up := p.Rank() + ((at+1)%side-at)*stride
		down := p.Rank() + ((at+side-1)%side-at)*stride
		if side > 1 {
			_, err1 := g.SendRecv(ctx, mpi.Of(out), up, 0, mpi.Of(in), down, 0)
			_, err2 := g.SendRecv(ctx, mpi.Of(out), down, 0, mpi.Of(in), up, 0)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
		}
		stride *= side
	}
	return mpi.AllReduce(ctx, g, in[:1], mpi.Sum)
}

// drawMemory draws the rings' memory against the ranks.
func drawMemory(file string, rows []chartRow) error {
	c := chart{title: "Receive rings of a rank: halo exchange and all-reduce", x: "ranks", y: "memory, KiB"}
	for _, r := range rows {
		c.add("a ring for every rank", float64(r.Ranks), float64(r.Dedicated)/1024)
		c.add("advised AMT", float64(r.Ranks), float64(r.Advised.Most)/1024)
	}
	return c.save(file)
}
