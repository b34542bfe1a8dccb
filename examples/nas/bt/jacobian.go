package main

import "weft/examples/nas/cfd"

// Equations are those of a step in time along an axis: how much of the flux, and of
// friction and diffusion, moves on.
type equations struct {
	axis                     int
	drift, diffusion, spread float64
}

func newEquations(dt float64, b *cfd.Block, axis int) equations {
	k := &b.Axes[axis]
	return equations{axis, dt * k.First, dt * k.Second, k.Spread}
}

// A coupling is what a point weighs in the equation of the point behind it, in its
// own and in that of the point before it.
type coupling struct{ behind, own, before matrix }

// of sets the coupling to that of a point with this gas.
func (c *coupling) of(e *equations, g *cfd.Gas) {
	var flux, friction matrix
	setFlux(&flux, e.axis, g)
	setFriction(&friction, e.axis, g)
	for i := range flux {
		friction[i][i] += e.spread
		for j := range flux[i] {
			moved, spread := e.drift*flux[i][j], e.diffusion*friction[i][j]
			c.behind[i][j], c.own[i][j], c.before[i][j] = -moved-spread, 2*spread, moved-spread
		}
		c.own[i][i]++
	}
}

// setFlux sets m, which is 0, to the Jacobian of the flux along an axis.
func setFlux(m *matrix, axis int, g *cfd.Gas) {
	const push = cfd.Gamma - 1 // how much of the energy is pressure
	n, v := 1+axis, g.Velocity[axis]
	m[0][n] = 1
	for i, w := range g.Velocity {
		m[1+i][0] = -w * v
		m[1+i][1+i] = v
		m[4][1+i] = -push * w * v
	}
	for i, w := range g.Velocity {
		m[1+i][n] += w
		m[n][1+i] -= push * w
	}
	m[n][0] += push * g.Kinetic
	m[n][4] = push
	m[4][0] = v * (2*push*g.Kinetic - cfd.Gamma*g.Energy)
	m[4][n] += cfd.Gamma*g.Energy - push*g.Kinetic
	m[4][4] = cfd.Gamma * v
}

// setFriction sets m, which is 0, to the Jacobian of friction along an axis and the
// conduction of heat.
func setFriction(m *matrix, axis int, g *cfd.Gas) {
	k := cfd.Viscosity * g.Inverse
	m[4][0] = -cfd.Conduction * k * g.Energy
	for i, w := range g.Velocity {
		own := k
		if i == axis {
			own += k / 3
		}
		m[1+i][0], m[1+i][1+i] = -own*w, own
		work := (own - cfd.Conduction*k) * w
		m[4][1+i] = work
		m[4][0] -= work * w
	}
	m[4][4] = cfd.Conduction * k
}
