package main

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// A chart is lines over two logarithmic axes.
type chart struct {
	title, x, y string
	order       []string
	lines       map[string]plotter.XYs
}

// add adds a point to a line.
func (c *chart) add(line string, x, y float64) {
	if c.lines == nil {
		c.lines = map[string]plotter.XYs{}
	}
	if c.lines[line] == nil {
		c.order = append(c.order, line)
	}
	c.lines[line] = append(c.lines[line], plotter.XY{X: x, Y: y})
}

// save draws the chart as SVG.
func (c *chart) save(file string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.x, c.y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var parts []any
	for _, name := range c.order {
		parts = append(parts, name, c.lines[name])
	}
	if err := plotutil.AddLinePoints(p, parts...); err != nil {
		return err
	}
	return p.Save(8*vg.Inch, 5*vg.Inch, file)
}
