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

// toX turns the residual into the waves along x of what goes on in a time dt.
func toX(g *cfd.Gas, dt float64, r *cfd.State) {
	x := g.Velocity[0]
	y := g.Velocity[1]
	z := g.Velocity[2]
	square := sound(g)
	pressure := dt * (cfd.Gamma - 1) / square * (g.Kinetic*r[0] - x*r[1] - y*r[2] - z*r[3] + r[4])
	k := dt * g.Inverse
	push := half * k * (r[1] - x*r[0])
	press := half * g.Inverse * math.Sqrt(square) * pressure
	*r = cfd.State{dt*r[0] - pressure, k * (r[3] - z*r[0]), k * (y*r[0] - r[2]), press + push, press - push}
}

// xToY turns the waves along x into those along y.
func xToY(w *cfd.State) {
	a := half * w[2]
	b := 0.5 * (w[3] + w[4])
	*w = cfd.State{-w[1], w[0], half * (w[3] - w[4]), b - a, b + a}
}

// yToZ turns the waves along y into those along z.
func yToZ(w *cfd.State) {
	a := half * w[0]
	b := 0.5 * (w[3] + w[4])
	*w = cfd.State{half * (w[3] - w[4]), -w[2], w[1], b - a, b + a}
}

// addZ adds what the waves along z change to the state.
func addZ(g *cfd.Gas, w, u *cfd.State) {
	x := g.Velocity[0]
	y := g.Velocity[1]
	z := g.Velocity[2]
	square := sound(g)
	density := u[0]
	k := half * density
	press := k / math.Sqrt(square) * (w[3] + w[4])
	push := k * (w[3] - w[4])
	mass := w[2] + press
	u[0] += mass
	u[1] += x*mass - density*w[1]
	u[2] += y*mass + density*w[0]
	u[3] += z*mass + push
	u[4] += density*(y*w[0]-x*w[1]) + g.Kinetic*mass + square/(cfd.Gamma-1)*press + z*push
}
