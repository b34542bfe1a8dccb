package main

import (
	"errors"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
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

// plot returns the chart, ready to be drawn.
func (c *chart) plot() (*plot.Plot, error) {
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
	return p, plotutil.AddLinePoints(p, parts...)
}

// save draws the chart as SVG.
func (c *chart) save(file string) error {
	p, err := c.plot()
	if err != nil {
		return err
	}
	return p.Save(8*vg.Inch, 5*vg.Inch, file)
}

// saveCharts draws charts two by two as one SVG.
func saveCharts(file string, charts []*chart) error {
	rows := (len(charts) + 1) / 2
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, 2)
	}
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return err
		}
		plots[i/2][i%2] = p
	}
	canvas := vgsvg.New(14*vg.Inch, vg.Length(rows)*5*vg.Inch)
	tiles := draw.Tiles{Rows: rows, Cols: 2, PadX: vg.Inch / 4, PadY: vg.Inch / 4}
	for row, across := range plot.Align(plots, tiles, draw.New(canvas)) {
		for column, at := range across {
			if p := plots[row][column]; p != nil {
				p.Draw(at)
			}
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}
