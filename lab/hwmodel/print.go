package hwmodel

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText prints a table: the parts with their sources, then what comes of
// them beside what was measured.
func (t Table) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", t.Title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range t.Paths {
		fmt.Fprintf(tw, "\n%s\tus\tfrom\n", n.Name)
		for _, p := range n.Path {
			text := fmt.Sprintf("%.3g", micros(p.Min))
			if p.Max != p.Min {
				text = fmt.Sprintf("%.3g–%.3g", micros(p.Min), micros(p.Max))
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", p.Name, text, p.From())
		}
		least, mean, most := n.Path.Walk()
		sum := fmt.Sprintf("%.4g", micros(mean))
		if least != most {
			sum = fmt.Sprintf("%.4g (%.4g–%.4g)", micros(mean), micros(least), micros(most))
		}
		fmt.Fprintf(tw, "  the message arrives after\t%s\t\n", sum)
	}
	fmt.Fprintf(tw, "\n\tpaper\tmodel\tresidual\tthe model is\t\n")
	for _, r := range t.Results {
		paper := "–"
		switch {
		case r.Text != "":
			paper = r.Text
		case r.Paper != 0:
			paper = fmt.Sprintf("%.4g %s", r.Paper, r.Unit)
		}
		fmt.Fprintf(tw, "%s\t%s\t%.3g %s\t%s\t%s\t%s\n", r.What, paper, r.Model.V, r.Unit, r.Residual(), r.Kind(), r.Note)
	}
	fmt.Fprintf(tw, "\nread, but not measured as a part by this paper\n")
	for _, in := range t.Inputs() {
		if in.Of != OfParts {
			fmt.Fprintf(tw, "%s\t%.4g %s\t%s\n", in.Name, in.V, in.Unit, in.From)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, c := range t.Charts {
		if err := c.writeText(w); err != nil {
			return err
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintf(w, "%s\n", n)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// writeText prints a chart as a table: lengths down, lines across.
func (c Chart) writeText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\n%s, %s\nbytes\t", c.Title, c.Unit)
	for _, l := range c.Lines {
		fmt.Fprintf(tw, "%s\t", l.Name)
	}
	fmt.Fprintln(tw)
	for i, p := range c.Lines[0].Points {
		fmt.Fprintf(tw, "%d\t", p.Bytes)
		for _, l := range c.Lines {
			fmt.Fprintf(tw, "%.3g\t", l.Points[i].Model.V)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}
