package main

import "weft/examples/nas/cfd"

// couple sets m to the matrix that cfd.Gas.Couple multiplies by.
func (m *matrix) couple(g *cfd.Gas, axis int, first, second, spread float64) {
	const push = cfd.Gamma - 1 // how much of the energy is pressure
	n := 1 + axis
	v := g.Velocity[axis]
	k := second * cfd.Viscosity * g.Inverse
	same := second * spread
	pressure := first * push
	// Of friction and the conduction of heat, and of what is swept along the axis.
	*m = matrix{
		{0: same},
		{0: -k * g.Velocity[0], 1: k + same + first*v},
		{0: -k * g.Velocity[1], 2: k + same + first*v},
		{0: -k * g.Velocity[2], 3: k + same + first*v},
		{0: -k*(cfd.Conduction*g.Energy+2*(1-cfd.Conduction)*g.Kinetic+1./3*v*v) -
			first*v*(cfd.Gamma*g.Energy-2*push*g.Kinetic), 4: cfd.Conduction*k + same + first*cfd.Gamma*v},
	}
	m[0][n] += first
	for i, w := range g.Velocity {
		m[1+i][0] -= first * v * w
		m[1+i][n] += first * w
		m[n][1+i] -= pressure * w
		m[4][1+i] = ((1-cfd.Conduction)*k - pressure*v) * w
	}
	// What pushes along the axis, and the part of friction that is only there.
	m[n][0] += pressure*g.Kinetic - k/3*v
	m[n][n] += k / 3
	m[n][4] += pressure
	m[4][n] += first*(cfd.Gamma*g.Energy-push*g.Kinetic) + k/3*v
}
