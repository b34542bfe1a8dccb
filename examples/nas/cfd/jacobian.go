package cfd

// Couple adds to sum what a change u of the state at a point weighs at the next one
// along an axis: first times what it does to the flux along the axis, and second
// times what it does to friction and the conduction of heat, plus spread times u.
// That is a 5×5 matrix, made of the Jacobians of the flux and of friction, times u;
// the matrix is never formed.
func (g *Gas) Couple(axis int, first, second, spread float64, u, sum *State) {
	x := g.Velocity[0]
	y := g.Velocity[1]
	z := g.Velocity[2]
	v := g.Velocity[axis]
	// Density times the change of the velocity: in each direction, and along the axis.
	dx := u[1] - x*u[0]
	dy := u[2] - y*u[0]
	dz := u[3] - z*u[0]
	along := u[1+axis] - v*u[0]
	pressure := (Gamma - 1) * (u[4] - x*u[1] - y*u[2] - z*u[3] + g.Kinetic*u[0])
	enthalpy := Gamma*g.Energy - (Gamma-1)*g.Kinetic

	k := second * Viscosity * g.Inverse
	heat := Conduction*(u[4]-g.Energy*u[0]) + (1-Conduction)*(x*dx+y*dy+z*dz) + 1./3*v*along
	same := first*v + second*spread
	swept := first * along
	sum[0] += second*spread*u[0] + first*u[1+axis]
	sum[1] += same*u[1] + swept*x + k*dx
	sum[2] += same*u[2] + swept*y + k*dy
	sum[3] += same*u[3] + swept*z + k*dz
	sum[4] += same*u[4] + first*v*pressure + swept*enthalpy + k*heat
	sum[1+axis] += first*pressure + k*(1./3)*along
}
