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

// A beam is the eight rows around a row: four that share a face with it, and four
// that share an edge. All have the same length.
type beam struct{ up, down, before, behind, a, b, c, d []float64 }

func (g *grid) beam(z, y int) beam {
	return beam{
		g.row(z-1, y), g.row(z+1, y), g.row(z, y-1), g.row(z, y+1),
		g.row(z-1, y-1), g.row(z-1, y+1), g.row(z+1, y-1), g.row(z+1, y+1),
	}
}

// residual computes r = v - A u. It may be that r is v.
func residual(r, v, u *grid) {
	const centre, edge, corner = -8. / 3, 1. / 6, 1. / 12
	for z := 1; z <= u.planes; z++ {
		for y := 1; y <= u.n; y++ {
			in, n := u.row(z, y), u.n+2
			out, from, m := r.row(z, y)[:n], v.row(z, y)[:n], u.beam(z, y)
			up, down, before, behind, a, b, c, d := m.up[:n], m.down[:n], m.before[:n], m.behind[:n], m.a[:n], m.b[:n], m.c[:n], m.d[:n]
			// Sums over the beam, at the point before, here and after.
			f0, e0 := before[0]+behind[0]+up[0]+down[0], a[0]+b[0]+c[0]+d[0]
			f1, e1 := before[1]+behind[1]+up[1]+down[1], a[1]+b[1]+c[1]+d[1]
			in = in[:n]
			for x := 1; x < n-1; x++ {
				f2, e2 := before[x+1]+behind[x+1]+up[x+1]+down[x+1], a[x+1]+b[x+1]+c[x+1]+d[x+1]
				out[x] = from[x] - centre*in[x] - edge*(e1+f0+f2) - corner*(e0+e2)
				f0, f1, e0, e1 = f1, f2, e1, e2
			}
		}
	}
}

// smooth adds to u what the residual suggests.
func smooth(u, r *grid, weight [3]float64) {
	w0, w1, w2 := weight[0], weight[1], weight[2]
	for z := 1; z <= u.planes; z++ {
		for y := 1; y <= u.n; y++ {
			in, n := r.row(z, y), r.n+2
			out, m := u.row(z, y)[:n], r.beam(z, y)
			up, down, before, behind, a, b, c, d := m.up[:n], m.down[:n], m.before[:n], m.behind[:n], m.a[:n], m.b[:n], m.c[:n], m.d[:n]
			f0, f1 := before[0]+behind[0]+up[0]+down[0], before[1]+behind[1]+up[1]+down[1]
			in = in[:n]
			for x := 1; x < n-1; x++ {
				f2 := before[x+1] + behind[x+1] + up[x+1] + down[x+1]
				e := a[x] + b[x] + c[x] + d[x]
				out[x] += w0*in[x] + w1*(in[x-1]+in[x+1]+f1) + w2*(e+f0+f2)
				f0, f1 = f1, f2
			}
		}
	}
}

// restrict puts a fine grid's planes into the planes of a coarse one from first on:
// each point the mean of those around the fine one at the same place.
func restrict(coarse, fine *grid, first int) {
	for z := 1; z <= fine.planes/2; z++ {
		for y := 1; y <= coarse.n; y++ {
			in, out, m := fine.row(2*z, 2*y), coarse.row(first+z-1, y), fine.beam(2*z, 2*y)
			sums := func(i int) (faces, edges float64) {
				return m.before[i] + m.behind[i] + m.up[i] + m.down[i], m.a[i] + m.b[i] + m.c[i] + m.d[i]
			}
			f0, e0 := sums(1)
			for x := 1; x <= coarse.n; x++ {
				i := 2 * x
				f1, e1 := sums(i)
				f2, e2 := sums(i + 1)
				out[x] = 0.5*in[i] + 0.25*(in[i-1]+in[i+1]+f1) + 0.125*(f0+f2+e1) + 0.0625*(e0+e2)
				f0, e0 = f2, e2
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
			w := coarse.n + 1
			a, b, c, d := coarse.row(z0, y0)[:w], coarse.row(z0, y1)[:w], coarse.row(z1, y0)[:w], coarse.row(z1, y1)[:w]
			out := fine.row(z, y)[1:]
			left := a[0] + b[0] + c[0] + d[0]
			for x := 1; x < w; x++ { // the points between two coarse ones, and at the second
				right := a[x] + b[x] + c[x] + d[x]
				pair := out[2*x-2 : 2*x]
				pair[0] += 0.125 * (left + right)
				pair[1] += 0.25 * right
				left = right
			}
		}
	}
}
