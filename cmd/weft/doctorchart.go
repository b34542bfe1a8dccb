package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"weft/internal/doctor"
)

// A matrix is a value for each pair of ranks, to be drawn as a table of colours. It
// implements plotter.GridXYZ: the first rank is on top.
type matrix struct {
	title string
	names []string
	cells [][]float64 // by row and column; NaN where there is none
	bad   []plotter.XY
	form  string // of the values
	low   bool   // low values are good
}

func (m *matrix) Dims() (columns, rows int) { return len(m.names), len(m.names) }
func (m *matrix) X(column int) float64      { return float64(column) }
func (m *matrix) Y(row int) float64         { return float64(row) }
func (m *matrix) Z(column, row int) float64 { return m.cells[len(m.names)-1-row][column] }
func (m *matrix) set(i, j int, value float64) {
	m.cells[i][j] = value
	m.cells[j][i] = value
}

// newMatrix makes one that is empty.
func newMatrix(title, form string, names []string) *matrix {
	m := &matrix{title: title, form: form, names: names}
	for range names {
		row := make([]float64, len(names))
		for i := range row {
			row[i] = math.NaN()
		}
		m.cells = append(m.cells, row)
	}
	return m
}

// drawPairs draws latency and bandwidth of all pairs as an SVG.
func drawPairs(file string, r *doctor.Report) error {
	var names []string
	index := map[*doctor.Rank]int{}
	for i := range r.Ranks {
		index[&r.Ranks[i]] = i
		names = append(names, shortName(r, i))
	}
	latency := newMatrix("one way in µs", "%.3g", names)
	latency.low = true
	bandwidth := newMatrix("MB/s", "%.0f", names)
	for _, p := range r.Pairs() {
		i := index[p.From]
		j := index[p.To]
		switch m := p.There.Measured; {
		case p.Error() != "":
			latency.fail(i, j)
			bandwidth.fail(i, j)
		case m != nil:
			latency.set(i, j, m.Latency.Seconds()*1e6)
			bandwidth.set(i, j, m.Bandwidth)
		}
	}
	return saveMatrices(file, latency, bandwidth)
}

// shortName names a rank by its host, if it is the only one there.
func shortName(r *doctor.Report, i int) string {
	name := r.Ranks[i].Host.Name
	for j := range r.Ranks {
		if j != i && r.Ranks[j].Host.Name == name {
			return fmt.Sprintf("%s:%d", name, r.Ranks[i].Rank)
		}
	}
	return name
}

// fail marks a pair that does not reach each other.
func (m *matrix) fail(i, j int) {
	last := len(m.names) - 1
	m.bad = append(m.bad, plotter.XY{X: float64(j), Y: float64(last - i)}, plotter.XY{X: float64(i), Y: float64(last - j)})
}

// plot returns the matrix, ready to be drawn: colours by the logarithm of the values,
// which stand in the cells as well.
func (m *matrix) plot() (*plot.Plot, error) {
	plot.DefaultFont = chartFont
	p := plot.New()
	p.Title.Text = m.title
	ticks := make([]plot.Tick, len(m.names))
	downwards := make([]plot.Tick, len(m.names))
	for i, name := range m.names {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
		downwards[len(m.names)-1-i] = plot.Tick{Value: float64(len(m.names) - 1 - i), Label: name}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Marker = plot.ConstantTicks(downwards)
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign = draw.XRight
	p.X.Tick.Label.YAlign = draw.YTop
	p.Y.Tick.Label.XAlign = draw.XRight
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Width = 0
		axis.Tick.Length = vg.Points(14)
		axis.Padding = 0 // room for fonts that are wider than ours
		axis.Tick.LineStyle.Width = 0
		axis.Tick.Label.Font.Size = vg.Points(9)
	}
	edge := float64(len(m.names)) - 0.5
	p.X.Min = -0.5
	p.Y.Min = -0.5
	p.X.Max = edge
	p.Y.Max = edge
	if len(m.values()) > 0 {
		p.Add(m.heat())
	}
	labels, err := m.labels()
	if err != nil {
		return nil, err
	}
	p.Add(labels)
	return p, nil
}

// spread is by which factor values differ at least that are drawn as good and as bad.
const spread = 8

// colours are a palette.
type colours []color.Color

func (c colours) Colors() []color.Color { return c }

// heat returns the cells: red are those that are bad.
func (m *matrix) heat() *plotter.HeatMap {
	all := m.values()
	least := math.Log(slices.Min(all))
	most := math.Log(slices.Max(all))
	scale := colours(palette.Heat(24, 0.6).Colors())
	if m.low {
		slices.Reverse(scale)
		most = max(most, least+math.Log(spread))
	} else {
		least = min(least, most-math.Log(spread))
	}
	h := plotter.NewHeatMap(logarithms{m}, scale)
	h.Min = least
	h.Max = most
	return h
}

// labels returns what stands in the cells.
func (m *matrix) labels() (*plotter.Labels, error) {
	var all plotter.XYLabels
	columns, rows := m.Dims()
	for row := range rows {
		for column := range columns {
			if z := m.Z(column, row); !math.IsNaN(z) {
				all.XYs = append(all.XYs, plotter.XY{X: m.X(column), Y: m.Y(row)})
				all.Labels = append(all.Labels, fmt.Sprintf(m.form, z))
			}
		}
	}
	for _, at := range m.bad {
		all.XYs = append(all.XYs, at)
		all.Labels = append(all.Labels, "none")
	}
	labels, err := plotter.NewLabels(all)
	if err != nil {
		return nil, err
	}
	size := vg.Length(min(10, 300/float64(len(m.names))/3))
	for i := range labels.TextStyle {
		labels.TextStyle[i] = text.Style{
			Color: color.Black, Font: font.From(plot.DefaultFont, size), XAlign: draw.XCenter, YAlign: draw.YCenter,
			Handler: plot.DefaultTextHandler,
		}
	}
	return labels, nil
}

// values returns those that there are.
func (m *matrix) values() (all []float64) {
	for _, row := range m.cells {
		for _, z := range row {
			if !math.IsNaN(z) {
				all = append(all, z)
			}
		}
	}
	return all
}

// logarithms is a matrix on a logarithmic scale.
type logarithms struct{ *matrix }

func (l logarithms) Z(column, row int) float64 { return math.Log(l.matrix.Z(column, row)) }

// saveMatrices draws matrices side by side as one SVG.
func saveMatrices(file string, all ...*matrix) error {
	side := vg.Length(max(4, 1+0.5*float64(len(all[0].names)))) * vg.Inch
	plots := [][]*plot.Plot{nil}
	for _, m := range all {
		p, err := m.plot()
		if err != nil {
			return err
		}
		plots[0] = append(plots[0], p)
	}
	canvas := vgsvg.New(side*vg.Length(len(all)), side)
	tiles := draw.Tiles{Rows: 1, Cols: len(all), PadX: vg.Inch / 4, PadY: vg.Inch / 4}
	for i, at := range plot.Align(plots, tiles, draw.New(canvas))[0] {
		plots[0][i].Draw(at)
	}
	return saveCanvas(file, canvas)
}
