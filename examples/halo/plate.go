package main

import (
	"encoding/binary"
	"math"
)

// A plate is what is computed.
type plate struct{ rows, cols, steps int }

// start returns the heat of a cell at first: a hot spot, and cold edges.
func (pl plate) start(row, col int) float64 {
	if row > pl.rows/4 && row < pl.rows/2 && col > pl.cols/4 && col < pl.cols/2 {
		return 100
	}
	return float64(row % 7)
}

// alone computes the whole plate.
func (pl plate) alone() []float64 {
	g := newGrid(pl, 0, pl.rows)
	for range pl.steps {
		g.step()
	}
	return g.rows()
}

// A grid is some rows of a plate, with one more above and below, and a column
// more on each side, which stay cold.
type grid struct {
	n, cols   int
	now, next []float64
}

// newGrid returns n rows of the plate, from row first on, as they are at the start. A margin of one row and column
// on each side holds what lies beyond.
func newGrid(pl plate, first, n int) *grid {
	size := (n + 2) * (pl.cols + 2)
	g := &grid{n: n, cols: pl.cols, now: make([]float64, size), next: make([]float64, size)}
	for r := range n {
		for c := range pl.cols {
			g.row(r)[c] = pl.start(first+r, c)
		}
	}
	return g
}

// row returns a row; -1 and n are the ones above and below.
func (g *grid) row(r int) []float64 {
	at := (r+1)*(g.cols+2) + 1
	return g.now[at : at+g.cols]
}

// rows returns a copy of the rows.
func (g *grid) rows() []float64 {
	all := make([]float64, 0, g.n*g.cols)
	for r := range g.n {
		all = append(all, g.row(r)...)
	}
	return all
}

// step moves every cell a quarter of the way to the mean of its neighbours.
func (g *grid) step() {
	w := g.cols + 2
	for r := 1; r <= g.n; r++ {
		for i := r*w + 1; i < r*w+1+g.cols; i++ {
			mean := (g.now[i-1] + g.now[i+1] + g.now[i-w] + g.now[i+w]) / 4
			g.next[i] = g.now[i] + (mean-g.now[i])/4
		}
	}
	g.now, g.next = g.next, g.now
}

func pack(v []float64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func unpack(b []byte) []float64 {
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}
