package main

import (
	"math"

	"weft/examples/nas/cfd"
)

// A change of the state is a sum of five waves along an axis: three that go with the
// gas, and two that go with the speed of sound more, and less. These functions turn
// the one into the other. Between the axes most of that cancels, and what is left does
// not depend on the gas.

// half is the root of a half.
const half = math.Sqrt2 / 2

// sound returns the speed of sound, squared.
func sound(g *cfd.Gas) float64 { return cfd.Gamma * g.Pressure * g.Inverse }

// toX returns the waves along x, of what goes on in a time dt.
func toX(g *cfd.Gas, dt float64, u *cfd.State) cfd.State {
	x, y, z, square := g.Velocity[0], g.Velocity[1], g.Velocity[2], sound(g)
	pressure := dt * (cfd.Gamma - 1) / square * (g.Kinetic*u[0] - x*u[1] - y*u[2] - z*u[3] + u[4])
	k := dt * g.Inverse
	push := half * k * (u[1] - x*u[0])
	press := half * g.Inverse * math.Sqrt(square) * pressure
	return cfd.State{
		dt*u[0] - pressure,
		k * (u[3] - z*u[0]),
		k * (y*u[0] - u[2]),
		press + push,
		press - push,
	}
}

// xToY returns the waves along y, of those along x.
func xToY(w *cfd.State) cfd.State {
	a, b := half*w[2], 0.5*(w[3]+w[4])
	return cfd.State{-w[1], w[0], half * (w[3] - w[4]), b - a, b + a}
}

// yToZ returns the waves along z, of those along y.
func yToZ(w *cfd.State) cfd.State {
	a, b := half*w[0], 0.5*(w[3]+w[4])
	return cfd.State{half * (w[3] - w[4]), -w[2], w[1], b - a, b + a}
}

// fromZ returns the change of the state of waves along z.
func fromZ(g *cfd.Gas, density float64, w *cfd.State) cfd.State {
	x, y, z, square := g.Velocity[0], g.Velocity[1], g.Velocity[2], sound(g)
	k := half * density
	press := k / math.Sqrt(square) * (w[3] + w[4])
	push := k * (w[3] - w[4])
	mass := w[2] + press
	return cfd.State{
		mass,
		x*mass - density*w[1],
		y*mass + density*w[0],
		z*mass + push,
		density*(y*w[0]-x*w[1]) + g.Kinetic*mass + square/(cfd.Gamma-1)*press + z*push,
	}
}
