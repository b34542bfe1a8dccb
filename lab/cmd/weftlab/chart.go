package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is a set of lines over two logarithmic axes. The legend stands beside the plot, in
// the order in which the lines end, and the axis labels name the units.
type chart struct {
	title, x, y string
	order       []string // of the lines, as they were added
	lines       map[string]plotter.XYs
}

const (
	chartWidth  = 7.5 * vg.Inch
	chartHeight = 4.3 * vg.Inch
	chartGap    = vg.Inch / 4 // between charts, and between a plot and its legend
)

// bytesAxis is the label of an x axis with the length of a message.
const bytesAxis = "message size in bytes"

// chartFont has the same widths as Arial and Helvetica, so that text fits in every browser.
var chartFont = font.Font{Typeface: "Liberation", Variant: "Sans"}

// browserFonts are the fonts that a picture asks for, the first of which is chartFont.
const browserFonts = "Liberation Sans,Arial,Helvetica,sans-serif"

// lineColours is the palette of Okabe and Ito, which colour-blind readers can tell apart, without
// its yellow, which is hard to see on white.
var lineColours = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // bluish green
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // reddish purple
	color.RGBA{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
	color.RGBA{R: 0x00, G: 0x00, B: 0x00, A: 0xff}, // black
}

// add adds a point to a line, unless a logarithmic axis has no place for it: nothing was measured.
func (c *chart) add(line string, x, y float64) {
	if c.lines == nil {
		c.lines = map[string]plotter.XYs{}
	}
	if x <= 0 || y <= 0 {
		return
	}
	if c.lines[line] == nil {
		c.order = append(c.order, line)
	}
	c.lines[line] = append(c.lines[line], plotter.XY{X: x, Y: y})
}

// save draws the chart as SVG.
func (c *chart) save(file string) error { return saveCharts(file, []*chart{c}) }

// saveCharts draws charts, two in a row, as one SVG. It leaves out charts without points.
func saveCharts(file string, charts []*chart) error {
	charts = slices.DeleteFunc(charts, func(c *chart) bool { return len(c.lines) == 0 })
	if len(charts) == 0 {
		return fmt.Errorf("%s is not drawn: there is no figure greater than 0", file)
	}
	columns := min(len(charts), 2)
	rows := (len(charts) + 1) / 2
	canvas := vgsvg.New(vg.Length(columns)*chartWidth, vg.Length(rows)*chartHeight)
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path()) // a picture with a background of its own is readable in dark mode
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadX: chartGap, PadY: chartGap,
		PadTop: chartGap / 2, PadBottom: chartGap / 2, PadLeft: chartGap / 2, PadRight: chartGap / 2,
	}
	for i, c := range charts {
		if err := c.draw(tiles.At(whole, i%2, i/2)); err != nil {
			return err
		}
	}
	return saveCanvas(file, canvas)
}

// saveCanvas writes an SVG whose fonts every browser has.
func saveCanvas(file string, canvas *vgsvg.Canvas) error {
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	text := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:"+browserFonts+";"))
	return os.WriteFile(file, text, 0o666)
}

// draw draws the plot and, to the right of it, its legend.
func (c *chart) draw(on draw.Canvas) error {
	plot.DefaultFont = chartFont
	p := plot.New()
	p.Title.Text = c.title
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text = c.x
	p.Y.Label.Text = c.y
	p.X.Scale = plot.LogScale{}
	p.Y.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(c.xTicks())
	p.Y.Tick.Marker = plot.TickerFunc(decades)
	grid := plotter.NewGrid()
	grid.Vertical.Color = color.Gray{Y: 0xcc}
	grid.Horizontal.Color = color.Gray{Y: 0xcc}
	p.Add(grid)
	legend := plot.NewLegend()
	legend.Top = true
	legend.Left = true
	legend.Padding = vg.Points(4)
	legend.ThumbnailWidth = vg.Points(28)
	for _, name := range c.byLastValue() {
		line, points, err := plotter.NewLinePoints(c.lines[name])
		if err != nil {
			return err
		}
		i := slices.Index(c.order, name)
		style := lineColours[i%len(lineColours)]
		line.Color = style
		line.Width = vg.Points(1.6)
		line.Dashes = plotutil.Dashes(i / len(lineColours))
		points.Color = style
		points.Radius = vg.Points(3)
		points.Shape = plotutil.Shape(i)
		p.Add(line, points)
		legend.Add(name, line, points)
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		if axis.Min == axis.Max { // plot would begin such an axis at 1 less, which may be 0
			axis.Min /= 2
			axis.Max *= 2
		}
	}
	width := legend.Rectangle(on).Size().X + chartGap
	p.Draw(draw.Crop(on, 0, -width, 0, 0))
	legend.Draw(draw.Crop(on, on.Size().X-width+chartGap/2, 0, 0, -vg.Points(24)))
	return nil
}

// byLastValue returns the lines in the order in which they end, the highest first.
func (c *chart) byLastValue() []string {
	last := func(name string) float64 {
		points := c.lines[name]
		return points[len(points)-1].Y
	}
	names := slices.Clone(c.order)
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case last(a) > last(b):
			return -1
		case last(a) < last(b):
			return 1
		}
		return 0
	})
	return names
}

// xTicks marks every x that a line has, and labels as many of them as there is room for.
func (c *chart) xTicks() []plot.Tick {
	const room = 0.075 // of the axis
	var all []float64
	for _, line := range c.lines {
		for _, p := range line {
			all = append(all, p.X)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil
	}
	span := math.Log(all[len(all)-1] / all[0])
	var ticks []plot.Tick
	at := math.Inf(-1)
	for _, x := range all {
		tick := plot.Tick{Value: x}
		if where := math.Log(x / all[0]); where-at >= room*span {
			tick.Label = c.xLabel(x)
			at = where
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// xLabel writes a value of the x axis: lengths in binary units, other numbers with commas.
func (c *chart) xLabel(x float64) string {
	switch n := int(x); {
	case c.x == bytesAxis && n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case c.x == bytesAxis && n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return grouped(x)
}

// decades marks the powers of ten and, where there are few of them, 2 and 5 between.
func decades(least, most float64) []plot.Tick {
	if least <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return nil
	}
	wide := most/least > 200
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(least)); power <= math.Ceil(math.Log10(most)); power++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow(10, power)
			if v < least*(1-1e-9) || v > most*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			if digit == 1 || !wide && (digit == 2 || digit == 5) {
				tick.Label = grouped(v)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// grouped writes a number with commas between thousands.
func grouped(v float64) string {
	text := fmt.Sprintf("%.12g", v)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}
