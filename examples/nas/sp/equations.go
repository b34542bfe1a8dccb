package main

import (
	"math"

	"weft/examples/nas/cfd"
)

// Equations are those of a step in time along an axis, each of five neighbouring
// points: what the waves carry on, what diffuses, and the fourth difference. Of all
// that diffuses, heat does so fastest: all do as it does.
type equations struct {
	drift, diffusion, spread float64
	damping                  float64 // of the fourth difference
	centre                   float64 // what it makes of the point itself
}

func newEquations(dt float64, k *cfd.Axis) equations {
	return equations{drift: dt * k.First, diffusion: dt * k.Second, spread: k.Spread, damping: dt * cfd.Damping}
}

// damp sets what the fourth difference makes of the points of a front.
func (e *equations) damp(nextToFace bool) {
	e.centre = 6 * e.damping
	if nextToFace {
		e.centre = 5 * e.damping
	}
}

// diffuse returns how much diffuses at a point.
func (e *equations) diffuse(g *cfd.Gas) float64 {
	return e.diffusion * (e.spread + cfd.Conduction*cfd.Viscosity*g.Inverse)
}

// eliminate takes the two points before, of which we have the links and right sides,
// from the equation of a point, and sets its own.
func (e *equations) eliminate(axis int, before, here, after *cfd.Gas, l2, l1, l *links, r2, r1, r *cfd.State) {
	centre := 1 + 2*e.diffuse(here) + e.centre
	back := -e.drift*before.Velocity[axis] - e.diffuse(before) - 4*e.damping
	on := e.drift*after.Velocity[axis] - e.diffuse(after) - 4*e.damping
	soundBack := e.drift * math.Sqrt(sound(before))
	soundOn := e.drift * math.Sqrt(sound(after))

	w := back - e.damping*l2[0]
	f := 1 / (centre - e.damping*l2[1] - w*l1[0])
	l[0] = f * (on - w*l1[1])
	l[1] = f * e.damping
	r[0] = f * (r[0] - e.damping*r2[0] - w*r1[0])
	r[1] = f * (r[1] - e.damping*r2[1] - w*r1[1])
	r[2] = f * (r[2] - e.damping*r2[2] - w*r1[2])

	w = back - soundBack - e.damping*l2[2]
	f = 1 / (centre - e.damping*l2[3] - w*l1[2])
	l[2] = f * (on + soundOn - w*l1[3])
	l[3] = f * e.damping
	r[3] = f * (r[3] - e.damping*r2[3] - w*r1[3])

	w = back + soundBack - e.damping*l2[4]
	f = 1 / (centre - e.damping*l2[5] - w*l1[4])
	l[4] = f * (on - soundOn - w*l1[5])
	l[5] = f * e.damping
	r[4] = f * (r[4] - e.damping*r2[4] - w*r1[4])
}
