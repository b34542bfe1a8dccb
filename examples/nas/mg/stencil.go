package main

// The loops over all points. Sums of rows are kept in rows of their own, which stay
// in the nearest cache, so that no sum of the same points is made twice; and each
// loop runs along few rows of one length, so that their bounds need no checks.

// scratch is room for such sums.
type scratch [3][]float64

func newScratch(n int) *scratch {
	return &scratch{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// add2 and add4 add up rows.
func add2(sum, a, b []float64) []float64 {
	sum = sum[:len(a)]
	b = b[:len(a)]
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	return sum
}

// add4 adds four rows point by point into sum, which it returns.
func add4(sum, a, b, c, d []float64) []float64 {
	sum = sum[:len(a)]
	b = b[:len(a)]
	c = c[:len(a)]
	d = d[:len(a)]
	for i := range a {
		sum[i] = a[i] + b[i] + (c[i] + d[i])
	}
	return sum
}

// A bundle is a row and what is around it: the rows before and behind it, and for
// each of the three the sum of those above and below.
type bundle struct {
	before, row, behind          []float64
	overBefore, over, overBehind []float64
}

// sweep calls do for each row of a grid.
func (s *scratch) sweep(g *grid, do func(z, y int, b bundle)) {
	for z := 1; z <= g.size[axisZ]; z++ {
		over := func(y int) []float64 { return add2(s[y%3], g.row(z-1, y), g.row(z+1, y)) }
		b := bundle{row: g.row(z, 0), behind: g.row(z, 1), over: over(0), overBehind: over(1)}
		for y := 1; y <= g.size[axisY]; y++ {
			b.before, b.row, b.behind = b.row, b.behind, g.row(z, y+1)
			b.overBefore, b.over, b.overBehind = b.over, b.overBehind, over(y+1)
			do(z, y, b)
		}
	}
}

// residual computes r = v - A u. It may be that r is v.
func (s *scratch) residual(r, v, u *grid) {
	s.sweep(u, func(z, y int, b bundle) { b.residual(r.row(z, y), v.row(z, y)) })
}

func (b *bundle) residual(out, from []float64) {
	const (
		centre = -8. / 3
		edge   = 1. / 6
	) // a corner counts half as much as an edge, a face nothing
	n := len(out) - 2
	out = out[1:][:n]
	from = from[1:][:n]
	row := b.row[1:][:n]
	before := b.before[2:][:n]
	behind := b.behind[2:][:n]
	over := b.over[2:][:n]
	overBefore := b.overBefore[2:][:n]
	overBehind := b.overBehind[2:][:n]
	// At the point before, here and after: the edges in the plane across x, and with
	// half of that the faces, which are edges and corners of the neighbours.
	at := func(x int) (edges, sum float64) {
		e := b.overBefore[x] + b.overBehind[x]
		return e, b.before[x] + b.behind[x] + b.over[x] + 0.5*e
	}
	_, s0 := at(0)
	e1, s1 := at(1)
	for x := range out {
		e2 := overBefore[x] + overBehind[x]
		s2 := before[x] + behind[x] + over[x] + 0.5*e2
		out[x] = from[x] - centre*row[x] - edge*(e1+(s0+s2))
		e1, s0, s1 = e2, s1, s2
	}
}

// smooth adds to u what the residual suggests.
func (s *scratch) smooth(u, r *grid, weight *[3]float64) {
	s.sweep(r, func(z, y int, b bundle) { b.smooth(u.row(z, y), weight) })
}

func (b *bundle) smooth(out []float64, weight *[3]float64) {
	w0 := weight[0]
	w1 := weight[1]
	w2 := weight[2]
	n := len(out) - 2
	out = out[1:][:n]
	row := b.row[2:][:n]
	before := b.before[2:][:n]
	behind := b.behind[2:][:n]
	over := b.over[2:][:n]
	overBefore := b.overBefore[1:][:n]
	overBehind := b.overBehind[1:][:n]
	r0 := b.row[0]
	r1 := b.row[1]
	f0 := b.before[0] + b.behind[0] + b.over[0]
	f1 := b.before[1] + b.behind[1] + b.over[1]
	for x := range out {
		r2 := row[x]
		f2 := before[x] + behind[x] + over[x]
		out[x] += w0*r1 + w1*(r0+r2+f1) + w2*(overBefore[x]+overBehind[x]+(f0+f2))
		r0, r1, f0, f1 = r1, r2, f1, f2
	}
}

// shift returns by how much the places of a fine grid's points along an axis are
// behind the doubled ones of the coarse grid's. In general the coarse points are at
// every second fine one; but a rank that has one point of both has the same.
func shift(fine, coarse *grid, axis int) int {
	if fine.size[axis] == coarse.size[axis] {
		return 1
	}
	return 0
}

// restrict makes each point of the coarse grid the mean of those around the fine one
// at the same place.
func (s *scratch) restrict(coarse, fine *grid) {
	dz := shift(fine, coarse, axisZ)
	dy := shift(fine, coarse, axisY)
	dx := shift(fine, coarse, axisX)
	for cz := 1; cz <= coarse.size[axisZ]; cz++ {
		z := 2*cz - dz
		for cy := 1; cy <= coarse.size[axisY]; cy++ {
			y := 2*cy - dy
			row := fine.row(z, y)
			faces := add4(s[0], fine.row(z, y-1), fine.row(z, y+1), fine.row(z-1, y), fine.row(z+1, y))
			edges := add4(s[1], fine.row(z-1, y-1), fine.row(z-1, y+1), fine.row(z+1, y-1), fine.row(z+1, y+1))
			out := coarse.row(cz, cy)
			for x := 1; x < len(out)-1; x++ {
				at := 2*x - dx - 1
				r := row[at : at+3]
				f := faces[at : at+3]
				e := edges[at : at+3]
				out[x] = 0.5*r[1] + 0.25*(r[0]+r[2]+f[1]) + 0.125*(f[0]+f[2]+e[1]) + 0.0625*(e[0]+e[2])
			}
		}
	}
}

// interpolate adds a coarse grid to a fine one, margins and all: a fine point is at
// the place of a coarse one, or between two in some directions.
func (s *scratch) interpolate(fine, coarse *grid) {
	dz := shift(fine, coarse, axisZ)
	dy := shift(fine, coarse, axisY)
	dx := shift(fine, coarse, axisX)
	for z := range fine.size[axisZ] + 2 {
		z0 := (z + dz) / 2
		z1 := (z + dz + 1) / 2
		for y := range fine.size[axisY] + 2 {
			y0 := (y + dy) / 2
			y1 := (y + dy + 1) / 2
			out := fine.row(z, y)
			switch {
			case z0 == z1 && y0 == y1:
				spread(out, coarse.row(z0, y0), dx, 1)
			case z0 == z1 || y0 == y1:
				spread(out, add2(s[0], coarse.row(z0, y0), coarse.row(z1, y1)), dx, 0.5)
			default:
				spread(out, add4(s[0], coarse.row(z0, y0), coarse.row(z0, y1), coarse.row(z1, y0), coarse.row(z1, y1)), dx, 0.25)
			}
		}
	}
}

// spread adds to each point of a fine row that of the coarse one at its place, or
// the mean of the two around it.
func spread(fine, coarse []float64, shift int, weight float64) {
	if len(fine) != 2*len(coarse)-2 { // the row has a single point
		for x := range fine {
			fine[x] += weight * 0.5 * (coarse[(x+shift)/2] + coarse[(x+shift+1)/2])
		}
		return
	}
	half := 0.5 * weight
	here := coarse[0]
	for _, next := range coarse[1:] {
		pair := fine[:2]
		pair[0] += weight * here
		pair[1] += half * (here + next)
		fine = fine[2:]
		here = next
	}
}

// squares adds up the squares of all points.
func (g *grid) squares() float64 {
	sum := 0.0
	for z := 1; z <= g.size[axisZ]; z++ {
		for y := 1; y <= g.size[axisY]; y++ {
			for _, v := range g.row(z, y)[1 : g.size[axisX]+1] {
				sum += v * v
			}
		}
	}
	return sum
}
