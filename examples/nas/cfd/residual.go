package cfd

// Residual computes R, by which the equations fail to hold: minus the divergence of
// the fluxes, plus friction, conduction and diffusion, less the fourth differences,
// plus the forcing. It needs the margins of U.
func (b *Block) Residual() {
	for first, end := range b.Rows(b.grown(1)) {
		gas := b.Gas[first:end]
		for i := range gas {
			gas[i].set(&b.U[first+i])
		}
	}
	for y, z := range b.places() {
		first := b.Index(b.From[0], y, z)
		end := b.Index(b.To[0], y, z)
		copy(b.R[first:end], b.forcing[first:end])
		for x := b.From[0]; x < b.To[0]; {
			next := b.alike(x)
			b.add(0, x, b.Index(x, y, z), next-x)
			x = next
		}
		b.add(1, y, first, end-first)
		b.add(2, z, first, end-first)
	}
}

// alike returns the end of the points along x from a point on that have the same
// weights.
func (b *Block) alike(x int) int {
	if i := b.Low[0] + x; i < 3 || i >= b.n-3 {
		return x + 1
	}
	return min(b.To[0], b.n-3-b.Low[0])
}

// weights returns what a point and the two on either side of it along an axis weigh
// in the artificial diffusion and the fourth difference together. For the latter the
// field is 0 on the faces of the cube, and goes on beyond them with its sign turned.
func (b *Block) weights(axis, i int) [5]float64 {
	fourth := [5]float64{1, -4, 6, -4, 1}
	switch b.Low[axis] + i {
	case 1:
		fourth = [5]float64{0, 0, 5, -4, 1}
	case 2:
		fourth[0] = 0
	case b.n - 3:
		fourth[4] = 0
	case b.n - 2:
		fourth = [5]float64{1, -4, 5, 0, 0}
	}
	k := b.Axes[axis].Spread * b.Axes[axis].Second
	w := [5]float64{0, k, -2 * k, k, 0}
	for j := range w {
		w[j] -= Damping * fourth[j]
	}
	return w
}

// add adds what the differences along an axis make of n points from an index on, to
// the residual. They are number i along the axis, or alike. The flux along the axis
// of each quantity is the velocity times it, with the pressure, which pushes on
// momentum along the axis and does work.
func (b *Block) add(axis, i, first, n int) {
	w := b.weights(axis, i)
	k := &b.Axes[axis]
	s := b.Stride[axis]
	friction := Viscosity * k.Second
	u0 := b.U[first-2*s:][:n]
	u1 := b.U[first-s:][:n]
	u2 := b.U[first:][:n]
	u3 := b.U[first+s:][:n]
	u4 := b.U[first+2*s:][:n]
	g1 := b.Gas[first-s:][:n]
	g2 := b.Gas[first:][:n]
	g3 := b.Gas[first+s:][:n]
	out := b.R[first:][:n]
	for i := range out {
		r := &out[i]
		a := &u0[i]
		b := &u1[i]
		c := &u2[i]
		d := &u3[i]
		e := &u4[i]
		before := &g1[i]
		here := &g2[i]
		after := &g3[i]
		v1 := before.Velocity[axis]
		v2 := here.Velocity[axis]
		v3 := after.Velocity[axis]
		w1 := w[1] + k.First*v1
		w3 := w[3] - k.First*v3
		r[0] += w[0]*a[0] + w1*b[0] + w[2]*c[0] + w3*d[0] + w[4]*e[0]
		r[1] += w[0]*a[1] + w1*b[1] + w[2]*c[1] + w3*d[1] + w[4]*e[1] + friction*curve(before.Velocity[0], here.Velocity[0],
			after.Velocity[0])
		r[2] += w[0]*a[2] + w1*b[2] + w[2]*c[2] + w3*d[2] + w[4]*e[2] + friction*curve(before.Velocity[1], here.Velocity[1],
			after.Velocity[1])
		r[3] += w[0]*a[3] + w1*b[3] + w[2]*c[3] + w3*d[3] + w[4]*e[3] + friction*curve(before.Velocity[2], here.Velocity[2],
			after.Velocity[2])
		heat := (1-Conduction)*curve(before.Kinetic, here.Kinetic, after.Kinetic) +
			1./6*curve(v1*v1, v2*v2, v3*v3) + Conduction*curve(before.Energy, here.Energy, after.Energy)
		r[4] += w[0]*a[4] + w1*b[4] + w[2]*c[4] + w3*d[4] + w[4]*e[4] + friction*heat -
			k.First*(v3*after.Pressure-v1*before.Pressure)
		r[1+axis] += friction/3*curve(v1, v2, v3) - k.First*(after.Pressure-before.Pressure)
	}
}

// curve is a second difference.
func curve(before, here, after float64) float64 { return before - 2*here + after }
