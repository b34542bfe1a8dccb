package main

import "weft/examples/nas/cfd"

// A diagonal is how a point depends on itself: by diffusion, friction and conduction
// along all three axes. It is a lower triangular matrix: each quantity depends on the
// density, and the energy on all.
type diagonal struct {
	base     float64    // of every quantity on itself
	friction [3]float64 // of the momentum on the velocity
	heat     float64    // of the energy on the energy per mass
	work     [3]float64 // of the energy on the change of the velocity, times the velocity
}

func newDiagonal(dt float64, axes [3]cfd.Axis) diagonal {
	d := diagonal{base: 1}
	all := 0.0
	for _, k := range axes {
		d.base += 2 * dt * k.Second * k.Spread
		all += 2 * dt * k.Second * cfd.Viscosity
	}
	d.heat = cfd.Conduction * all
	for i, k := range axes {
		third := 2 * dt * k.Second * cfd.Viscosity / 3
		d.friction[i] = all + third
		d.work[i] = (1-cfd.Conduction)*all + third
	}
	return d
}

// solve divides u by the diagonal.
func (d *diagonal) solve(g *cfd.Gas, u *cfd.State) {
	u[0] /= d.base
	work := 0.0
	for i, v := range g.Velocity {
		k := d.friction[i] * g.Inverse
		u[1+i] = (u[1+i] + k*v*u[0]) / (d.base + k)
		work += d.work[i] * v * g.Inverse * (u[1+i] - v*u[0])
	}
	k := d.heat * g.Inverse
	u[4] = (u[4] - work + k*g.Energy*u[0]) / (d.base + k)
}
