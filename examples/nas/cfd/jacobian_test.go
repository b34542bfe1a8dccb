package cfd

import (
	"math"
	"testing"
)

// What a change weighs is the derivative of the flux and of friction.
func TestCouple(t *testing.T) {
	u := Exact([3]float64{0.3, 0.9, 0.5})
	change := State{0.7, -0.4, 1.1, 0.3, -2}
	var g Gas
	g.set(&u)
	for axis := range 3 {
		var sum State
		g.Couple(axis, 2, 3, 0.75, &change, &sum)
		for i := range sum {
			want := 2*slope(u, change, func(u State) float64 { return flux(axis, u)[i] }) +
				3*(slope(u, change, func(u State) float64 { return friction(axis, u)[i] })+0.75*change[i])
			if math.Abs(sum[i]-want) > 1e-6 {
				t.Errorf("along %d, quantity %d: %v, want %v", axis, i, sum[i], want)
			}
		}
	}
}

// slope is how fast a function changes with the state in a direction.
func slope(u, direction State, f func(u State) float64) float64 {
	const h = 1e-6
	after := u
	before := u
	for m := range u {
		after[m] += h * direction[m]
		before[m] -= h * direction[m]
	}
	return (f(after) - f(before)) / (2 * h)
}

func flux(axis int, u State) State {
	pressure := (Gamma - 1) * (u[4] - (u[1]*u[1]+u[2]*u[2]+u[3]*u[3])/(2*u[0]))
	v := u[1+axis] / u[0]
	f := State{v * u[0], v * u[1], v * u[2], v * u[3], v * (u[4] + pressure)}
	f[1+axis] += pressure
	return f
}

// friction is what the second differences are of.
func friction(axis int, u State) State {
	var g Gas
	g.set(&u)
	v := g.Velocity[axis]
	f := State{0, g.Velocity[0], g.Velocity[1], g.Velocity[2], (1-Conduction)*g.Kinetic + v*v/6 + Conduction*g.Energy}
	f[1+axis] += v / 3
	for m := range f {
		f[m] *= Viscosity
	}
	return f
}
