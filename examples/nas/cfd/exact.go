package cfd

// The exact solution is a sum of three polynomials, one of each coordinate. These
// are their coefficients: the constant, and those of the powers from 1 to 4 of x, y
// and z.
var exact = [5]struct {
	constant float64
	of       [3][4]float64
}{
	{2, [3][4]float64{{0, 5, 0.02, 0.5}, {0, 3, 0.01, 0.4}, {4, 0.5, 0.03, 0.3}}},
	{1, [3][4]float64{{0, 1, 0.01, 0.4}, {0, 2, 0.03, 0.3}, {0, 3, 0.02, 0.5}}},
	{2, [3][4]float64{{2, 0, 0.04, 0.3}, {0, 2, 0.03, 0.5}, {0, 3, 0.05, 0.4}}},
	{2, [3][4]float64{{2, 0, 0.03, 0.2}, {0, 2, 0.05, 0.1}, {0, 3, 0.04, 0.3}}},
	{5, [3][4]float64{{4, 0.1, 0.05, 0.1}, {3, 0.4, 0.04, 0.3}, {2, 0.3, 0.03, 0.2}}},
}

// Exact returns the exact solution at a place of the unit cube.
func Exact(at [3]float64) (u State) {
	for m := range u {
		u[m] = exact[m].constant
		for d, x := range at {
			c := &exact[m].of[d]
			u[m] += x * (c[0] + x*(c[1]+x*(c[2]+x*c[3])))
		}
	}
	return u
}

// initial returns the values to begin with: on the faces of the cube they are exact,
// and inside they blend those at the six places of the faces that lie along the axes
// (transfinite interpolation).
func initial(at [3]float64) State {
	for _, x := range at {
		if x == 0 || x == 1 {
			return Exact(at)
		}
	}
	var along [3]State // between the two faces across each axis
	for d, x := range at {
		face := at
		face[d] = 0
		near := Exact(face)
		face[d] = 1
		far := Exact(face)
		for m := range near {
			along[d][m] = (1-x)*near[m] + x*far[m]
		}
	}
	var u State
	for m := range u {
		x := along[0][m]
		y := along[1][m]
		z := along[2][m]
		u[m] = x + y + z - x*y - x*z - y*z + x*y*z
	}
	return u
}
