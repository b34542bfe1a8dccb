package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/lab/hwmodel"
	"weft/lab/perf/breakdown"
)

const simPaperHelp = `Prints models of the hardware of the papers that weft builds on ([Sumimoto00],
[Kitamura06] and [Konishi97] of docs/REFERENCES.md): each part of a message's path with the
source of its value, the model's figures beside those of the papers, and what is left
unexplained. What the model is follows from what it reads:

  predicted              parts that the same paper measured or simulated one by one
  an input               it is one of these parts
  from another paper     a figure of another paper, too
  from an assumption     a value that was never measured, too
  from a measured total  the measured time of a whole path, too, or a part that was
                         computed by subtracting from one
  by construction        the paper computed a part from this very total
  hypothetical           of hardware that the paper does not have
  of another machine     the figure beside it is of another paper and machine

EXAMPLES
  weftlab sim paper -table pmethernet
  weftlab sim paper -table dimmnet -json
  weftlab sim paper -table pmethernet -svg parts.svg   a bar for each path, cut into its parts
  weftlab sim paper -table lanai -svg lanai.svg   with curves like [Konishi97]'s figures`

type simPaperFlags struct {
	table, svg string
	json       bool
}

func simPaperCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim paper", flag.ContinueOnError)
	f := &simPaperFlags{}
	fs.StringVar(&f.table, "table", "all", strings.Join(paperNames(), ", ")+" or all")
	fs.StringVar(&f.svg, "svg", "", "draw the charts to this file")
	fs.BoolVar(&f.json, "json", false, "print one object for each figure, and for each point of a chart")
	return &ffcli.Command{
		Name: "paper", ShortUsage: "weftlab sim paper [-table NAME] [-svg FILE] [-json]",
		ShortHelp: "models of the hardware of the papers",
		LongHelp:  simPaperHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error { return f.run() },
	}
}

func paperNames() []string {
	var names []string
	for _, t := range hwmodel.Tables() {
		names = append(names, t.Name)
	}
	return names
}

func (f *simPaperFlags) run() error {
	var charts []*chart
	found := false
	var only hwmodel.Table // the last of them
	for _, t := range hwmodel.Tables() {
		if f.table != "all" && f.table != t.Name {
			continue
		}
		found = true
		only = t
		charts = append(charts, paperCharts(t)...)
		print := func() error { return t.WriteText(os.Stdout) }
		if f.json {
			print = func() error { return printPaper(t) }
		}
		if err := print(); err != nil {
			return err
		}
	}
	switch {
	case !found:
		return fmt.Errorf("sim paper: there is no table %q; there are %s and all", f.table, strings.Join(paperNames(), ", "))
	case f.svg == "":
		return nil
	case len(charts) == 0:
		return drawPaths(f.svg, only)
	}
	return saveCharts(f.svg, charts)
}

// printPaper prints a table as JSON, an object a line.
func printPaper(t hwmodel.Table) error {
	out := json.NewEncoder(os.Stdout)
	for _, r := range t.Results {
		o := map[string]any{
			"table": t.Name, "what": r.What, "model": r.Model.V, "unit": r.Unit, "kind": r.Kind(), "note": r.Note,
			"reads": inputs(r.Model),
		}
		if r.Text != "" {
			o["paper_says"] = r.Text
		}
		if r.Paper != 0 {
			o["paper"] = r.Paper
			o["not_explained"] = r.Paper - r.Model.V
		}
		if err := out.Encode(o); err != nil {
			return err
		}
	}
	for _, c := range t.Charts {
		for _, l := range c.Lines {
			for _, p := range l.Points {
				o := map[string]any{
					"table": t.Name, "chart": c.Name, "line": l.Name, "bytes": p.Bytes, "model": p.Model.V, "unit": c.Unit,
					"kind": p.Kind(), "reads": inputs(p.Model),
				}
				if err := out.Encode(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inputs names what a figure was computed from.
func inputs(f hwmodel.Figure) []string {
	var names []string
	for _, in := range f.Reads() {
		names = append(names, in.Name)
	}
	return names
}

// drawPaths draws a bar for each path of a table, cut into its parts, where the paper has no times by length; and a bar
// for each time of a table that has no paths.
func drawPaths(file string, t hwmodel.Table) error {
	var ways []breakdown.Way
	for _, p := range t.Paths {
		w := breakdown.Way{Name: p.Name, Measured: p.Measured}
		for _, part := range p.Path {
			us := float64(part.Min+part.Max) / 2 / float64(time.Microsecond)
			w.Parts = append(w.Parts, breakdown.Part{Name: part.Name, US: us})
			w.Sum += us
		}
		ways = append(ways, w)
	}
	for _, r := range t.Results {
		if len(t.Paths) == 0 && r.Unit == "us" {
			parts := []breakdown.Part{{Name: r.What, US: r.Model.V}}
			ways = append(ways, breakdown.Way{Name: r.What, Measured: r.Paper, Parts: parts, Sum: r.Model.V})
		}
	}
	var svg bytes.Buffer
	if err := breakdown.WriteSVG(&svg, t.Title, ways); err != nil {
		return err
	}
	return os.WriteFile(file, svg.Bytes(), 0o666)
}

func paperCharts(t hwmodel.Table) []*chart {
	var charts []*chart
	for _, from := range t.Charts {
		c := &chart{title: from.Title, x: bytesAxis, y: strings.Replace(from.Unit, "us", "time, µs", 1)}
		for _, l := range from.Lines {
			for _, p := range l.Points {
				c.add(l.Name, float64(p.Bytes), p.Model.V)
			}
		}
		charts = append(charts, c)
	}
	return charts
}
