package doctor

import (
	"fmt"
	"io"
	"math"
)

// A matrix is a value for each pair of ranks, drawn as a table of colours.
type matrix struct {
	title string
	form  string      // of the values
	low   bool        // low values are good
	cells [][]float64 // by row and column; NaN where nothing was measured, infinite where a pair does not connect
}

// spread is the ratio of values between the lightest and the darkest colour, at least: small differences stay light.
const spread = 4

// heat are the colours of cells, from good to bad. They darken all the way, so that colour-blind readers can tell them
// apart; the text in the last ones is white.
var heat = []string{"#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#990000"}

// Sizes in pixels.
const (
	cell   = 54
	labels = 150
)

// WriteSVG draws the latency and the bandwidth of all pairs of ranks, side by side.
func (r *Report) WriteSVG(w io.Writer) {
	latency := newMatrix("one way in µs", "%.3g", true, len(r.Ranks))
	bandwidth := newMatrix("MB/s", "%.0f", false, len(r.Ranks))
	index := map[*Rank]int{}
	var names []string
	for i := range r.Ranks {
		index[&r.Ranks[i]] = i
		names = append(names, r.shortName(i))
	}
	for _, p := range r.Pairs() {
		i := index[p.From]
		j := index[p.To]
		switch m := p.There.Measured; {
		case p.Error() != "":
			latency.set(i, j, math.Inf(1))
			bandwidth.set(i, j, math.Inf(1))
		case m != nil:
			latency.set(i, j, m.Latency.Seconds()*1e6)
			bandwidth.set(i, j, m.Bandwidth)
		}
	}
	side := labels + cell*len(names) + cell
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "+
		"font-family=\"Arial,Helvetica,sans-serif\" font-size=\"12\">\n", 2*side, side)
	fmt.Fprintln(w, `<rect width="100%" height="100%" fill="white"/>`)
	latency.draw(w, names, 0)
	bandwidth.draw(w, names, side)
	fmt.Fprintln(w, "</svg>")
}

// shortName names a rank by its host, if it is the only rank there.
func (r *Report) shortName(i int) string {
	name := r.Ranks[i].Host.Name
	for j := range r.Ranks {
		if j != i && r.Ranks[j].Host.Name == name {
			return fmt.Sprintf("%s:%d", name, r.Ranks[i].Rank)
		}
	}
	return name
}

// newMatrix returns a matrix without values.
func newMatrix(title, form string, low bool, n int) *matrix {
	m := &matrix{title: title, form: form, low: low}
	for range n {
		row := make([]float64, n)
		for i := range row {
			row[i] = math.NaN()
		}
		m.cells = append(m.cells, row)
	}
	return m
}

func (m *matrix) set(i, j int, value float64) {
	m.cells[i][j] = value
	m.cells[j][i] = value
}

// draw draws the matrix, whose left edge is at left: names above and beside it, and a value in each cell.
func (m *matrix) draw(w io.Writer, names []string, left int) {
	fmt.Fprintf(w, "<text x=\"%d\" y=\"24\" font-size=\"16\">%s</text>\n", left+labels, m.title)
	least, most := m.bounds()
	for i, name := range names {
		at := labels + cell*i + cell/2
		fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left+labels-8, at+4, name)
		fmt.Fprintf(w, "<text transform=\"translate(%d %d) rotate(-45)\">%s</text>\n", left+at, labels-8, name)
	}
	for i, row := range m.cells {
		for j, value := range row {
			if math.IsNaN(value) {
				continue
			}
			shade := m.shade(value, least, most)
			text := fmt.Sprintf(m.form, value)
			if math.IsInf(value, 1) {
				text = "none"
			}
			ink := "black"
			if shade > len(heat)-3 {
				ink = "white"
			}
			x := left + labels + cell*j
			y := labels + cell*i
			fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"white\"/>", x, y,
				cell, cell, heat[shade])
			fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n", x+cell/2, y+cell/2+4,
				ink, text)
		}
	}
}

// bounds returns the least and the greatest value that was measured.
func (m *matrix) bounds() (least, most float64) {
	least = math.Inf(1)
	for _, row := range m.cells {
		for _, value := range row {
			if value > 0 && !math.IsInf(value, 1) {
				least = min(least, value)
				most = max(most, value)
			}
		}
	}
	return least, most
}

// shade returns the colour of a value, on a logarithmic scale from the best value to the worst.
func (m *matrix) shade(value, least, most float64) int {
	last := len(heat) - 1
	if math.IsInf(value, 1) || value <= 0 {
		return last
	}
	worse := value / least
	if !m.low {
		worse = most / value
	}
	return min(int(math.Log(worse)/math.Log(max(most/least, spread))*float64(last)), last)
}
