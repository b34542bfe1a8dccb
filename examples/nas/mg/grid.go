package main

// A grid is a block of points with a margin of one point all around: what lies
// there is on the other side of the cube, or at another rank.
type grid struct {
	size [axes]int // without the margin
	at   []float64 // by plane, row and column
}

func newGrid(size [axes]int) *grid {
	return &grid{size, make([]float64, (size[axisX]+2)*(size[axisY]+2)*(size[axisZ]+2))}
}

// row returns a row, which begins and ends with the margin. Planes and rows count
// from 0 in the margin.
func (g *grid) row(plane, row int) []float64 {
	w := g.size[axisX] + 2
	return g.at[(plane*(g.size[axisY]+2)+row)*w:][:w]
}

// plane returns a plane across z with its margin.
func (g *grid) plane(i int) []float64 {
	size := (g.size[axisX] + 2) * (g.size[axisY] + 2)
	return g.at[i*size:][:size]
}

// wrap fills the margins across an axis along which one rank has all points.
func (g *grid) wrap(axis int) {
	n := g.size[axis]
	switch axis {
	case axisX:
		w := n + 2
		for r := g.at; len(r) >= w; r = r[w:] {
			r[0] = r[n]
			r[n+1] = r[1]
		}
	case axisY:
		for z := range g.size[axisZ] + 2 {
			copy(g.row(z, 0), g.row(z, n))
			copy(g.row(z, n+1), g.row(z, 1))
		}
	case axisZ:
		copy(g.plane(0), g.plane(n))
		copy(g.plane(n+1), g.plane(1))
	}
}

// faceLen returns how many points a plane across an axis has, with its margin.
func (g *grid) faceLen(axis int) int { return len(g.at) / (g.size[axis] + 2) }

// face returns the points of a plane across an axis: those of the grid themselves
// where they lie together, else what buf has room for them to be copied to.
func (g *grid) face(axis, i int, buf []float64) []float64 {
	if axis == axisZ {
		return g.plane(i)
	}
	return buf[:g.faceLen(axis)]
}

// pack copies a plane to its face, and returns it.
func (g *grid) pack(axis, i int, buf []float64) []float64 {
	face := g.face(axis, i, buf)
	switch w := g.size[axisX] + 2; axis {
	case axisX:
		for k := range face {
			face[k] = g.at[k*w+i]
		}
	case axisY:
		for z := range g.size[axisZ] + 2 {
			copy(face[z*w:], g.row(z, i))
		}
	}
	return face
}

// unpack copies a face to its plane.
func (g *grid) unpack(axis, i int, face []float64) {
	switch w := g.size[axisX] + 2; axis {
	case axisX:
		for k, v := range face {
			g.at[k*w+i] = v
		}
	case axisY:
		for z := range g.size[axisZ] + 2 {
			copy(g.row(z, i), face[z*w:])
		}
	}
}
