package main

// A grid is some planes of a cube of n points a side, with a margin of one point
// all around: what lies there is on the other side of the cube, or at another rank.
type grid struct {
	n, planes int
	at        []float64 // by plane, row and column
}

func newGrid(n, planes int) *grid {
	return &grid{n, planes, make([]float64, (planes+2)*(n+2)*(n+2))}
}

// row returns a row, which begins and ends with the margin. Planes and rows count
// from 0 in the margin.
func (g *grid) row(plane, row int) []float64 {
	w := g.n + 2
	return g.at[(plane*w+row)*w:][:w]
}

// plane returns a plane with its margin.
func (g *grid) plane(i int) []float64 {
	size := (g.n + 2) * (g.n + 2)
	return g.at[i*size:][:size]
}

// wrap fills the margins within the planes.
func (g *grid) wrap() {
	n := g.n
	for z := 1; z <= g.planes; z++ {
		for y := 1; y <= n; y++ {
			r := g.row(z, y)
			r[0], r[n+1] = r[n], r[1]
		}
		copy(g.row(z, 0), g.row(z, n))
		copy(g.row(z, n+1), g.row(z, 1))
	}
}

// around sums the four neighbours of each point of a row that share a face with it
// across the row, and the four that share an edge.
func (g *grid) around(z, y int, faces, edges []float64) {
	up, down, before, behind := g.row(z-1, y), g.row(z+1, y), g.row(z, y-1), g.row(z, y+1)
	a, b, c, d := g.row(z-1, y-1), g.row(z-1, y+1), g.row(z+1, y-1), g.row(z+1, y+1)
	for x := range faces {
		faces[x] = before[x] + behind[x] + up[x] + down[x]
		edges[x] = a[x] + b[x] + c[x] + d[x]
	}
}

// residual computes r = v - A u. It may be that r is v.
func residual(r, v, u *grid, faces, edges []float64) {
	const centre, edge, corner = -8. / 3, 1. / 6, 1. / 12
	faces, edges = faces[:u.n+2], edges[:u.n+2]
	for z := 1; z <= u.planes; z++ {
		for y := 1; y <= u.n; y++ {
			u.around(z, y, faces, edges)
			in, out, from := u.row(z, y), r.row(z, y), v.row(z, y)
			for x := 1; x <= u.n; x++ {
				out[x] = from[x] - centre*in[x] - edge*(edges[x]+faces[x-1]+faces[x+1]) - corner*(edges[x-1]+edges[x+1])
			}
		}
	}
}

// smooth adds to u what the residual suggests.
func smooth(u, r *grid, c [3]float64, faces, edges []float64) {
	faces, edges = faces[:u.n+2], edges[:u.n+2]
	for z := 1; z <= u.planes; z++ {
		for y := 1; y <= u.n; y++ {
			r.around(z, y, faces, edges)
			in, out := r.row(z, y), u.row(z, y)
			for x := 1; x <= u.n; x++ {
				out[x] += c[0]*in[x] + c[1]*(in[x-1]+in[x+1]+faces[x]) + c[2]*(edges[x]+faces[x-1]+faces[x+1])
			}
		}
	}
}

// restrict puts a fine grid's planes into the planes of a coarse one from first on:
// each point the mean of those around the fine one at the same place.
func restrict(coarse, fine *grid, first int, faces, edges []float64) {
	faces, edges = faces[:fine.n+2], edges[:fine.n+2]
	for z := 1; z <= fine.planes/2; z++ {
		for y := 1; y <= coarse.n; y++ {
			fine.around(2*z, 2*y, faces, edges)
			in, out := fine.row(2*z, 2*y), coarse.row(first+z-1, y)
			for x := 1; x <= coarse.n; x++ {
				i := 2 * x
				out[x] = 0.5*in[i] + 0.25*(in[i-1]+in[i+1]+faces[i]) + 0.125*(faces[i-1]+faces[i+1]+edges[i]) + 0.0625*(edges[i-1]+edges[i+1])
			}
		}
	}
}

// interpolate adds a coarse grid, whose planes from first on lie over the fine one's,
// to it: a fine point is at the place of a coarse one, or between two in some
// directions.
func interpolate(fine, coarse *grid, first int) {
	for z := 1; z <= fine.planes; z++ {
		z0, z1 := first-1+z/2, first-1+(z+1)/2 // the coarse planes below and above; the same if z is even
		for y := 1; y <= fine.n; y++ {
			y0, y1 := y/2, (y+1)/2
			a, b, c, d := coarse.row(z0, y0), coarse.row(z0, y1), coarse.row(z1, y0), coarse.row(z1, y1)
			out := fine.row(z, y)
			for x := 1; x <= fine.n; x++ {
				x0, x1 := x/2, (x+1)/2
				out[x] += 0.125 * (a[x0] + a[x1] + b[x0] + b[x1] + c[x0] + c[x1] + d[x0] + d[x1])
			}
		}
	}
}
