package cfd

// A State is what a point of the grid has per volume: mass, momentum along x, y
// and z, and energy.
type State [5]float64

// The gas. In NPB's terms: Gamma is c1, Viscosity c3 c4, Conduction c1 c5.
const (
	Gamma      = 1.4         // the ratio of its specific heats
	Viscosity  = 0.1         // how momentum spreads
	Conduction = Gamma * 1.4 // how heat spreads, against momentum
)

// A Gas is what follows from a State.
type Gas struct {
	Inverse  float64    // of the density
	Velocity [3]float64 // along x, y and z
	Kinetic  float64    // energy of motion, per mass
	Energy   float64    // in all, per mass
	Pressure float64
}

// set computes from the conserved quantities of a point what the steps need: 1/density, velocities, energies,
// pressure.
func (g *Gas) set(u *State) {
	inv := 1 / u[0]
	x := u[1] * inv
	y := u[2] * inv
	z := u[3] * inv
	kinetic := 0.5 * (x*x + y*y + z*z)
	*g = Gas{inv, [3]float64{x, y, z}, kinetic, u[4] * inv, (Gamma - 1) * (u[4] - u[0]*kinetic)}
}

// An Axis is a direction of the grid, with the coefficients of its differences.
type Axis struct {
	First  float64 // of a central difference: one over twice the distance of points
	Second float64 // of a second difference: one over the distance squared
	Spread float64 // of the diffusion of all five quantities, which is artificial
}

// Damping is the coefficient of the fourth differences, which smooth the solution.
const Damping = 0.25

// axes returns the axes of a grid of n points along each.
func axes(n int) (a [3]Axis) {
	h := 1 / float64(n-1)
	for d, spread := range [3]float64{0.75, 0.75, 1} {
		a[d] = Axis{0.5 / h, 1 / (h * h), spread}
	}
	return a
}
