package main

import (
	"context"
	"math"

	"weft"
	"weft/examples/nas/cfd"
)

// A solver solves the equations of each step along one axis after the other. There
// are three systems to each line, whose waves go as fast as the gas, faster and slower
// than it: the first has three right sides, the others one.
type solver struct {
	*cfd.Cells
	class cfd.Class
	links map[*cfd.Block][]links
}

// Links are how a point follows from the two behind it when a system has been
// eliminated: it is the right side less near times the next, less far times the one
// after that.
type links struct{ near, far [3]float64 }

// A row is what elimination leaves of a point.
type row struct {
	links
	right cfd.State
}

// Two rows are passed on from block to block in elimination, and two points of the
// solution in substitution.
const (
	forthLine = 2 * (3 + 3 + 5)
	backLine  = 2 * 5
)

func newSolver(ctx context.Context, p *weft.Proc, c cfd.Class) (cfd.Solver, error) {
	cells, err := cfd.NewCells(ctx, p, c.Points, forthLine)
	if err != nil {
		return nil, err
	}
	s := &solver{Cells: cells, class: c, links: map[*cfd.Block][]links{}}
	for _, b := range cells.Blocks {
		s.links[b] = make([]links, len(b.U))
	}
	return s, nil
}

// Advance sweeps along the axes, and adds the step.
func (s *solver) Advance(ctx context.Context) error {
	forth, back := cfd.Pass{PerLine: forthLine, Do: s.eliminate}, cfd.Pass{PerLine: backLine, Do: s.substitute}
	for axis := range 3 {
		if err := s.Sweep(ctx, axis, forth, back); err != nil {
			return err
		}
	}
	return nil
}

// eliminate takes the two points before from the equations of each point of a block.
// What is on the face of the cube does not change.
func (s *solver) eliminate(b *cfd.Block, axis int, in, out []float64) {
	stride, e := b.Stride[axis], newEquations(s.class.Dt, &b.Axes[axis])
	links := s.links[b]
	for first := range b.Lines(axis) {
		var last2, last row
		if in != nil {
			in = last.unpack(last2.unpack(in))
		}
		from := first + b.From[axis]*stride
		before, here := speedsOf(&b.Gas[from-stride], axis), speedsOf(&b.Gas[from], axis)
		for i := b.From[axis]; i < b.To[axis]; i++ {
			p := first + i*stride
			after := speedsOf(&b.Gas[p+stride], axis)
			centre := e.centre(&here)
			if at := b.Low[axis] + i; at == 1 || at == s.class.Points-2 {
				centre -= e.damping
			}
			now := row{right: b.R[p]}
			if axis == 0 {
				now.right = toX(&b.Gas[p], s.class.Dt, &b.R[p])
			}
			e.eliminate(&now, &last, &last2, centre, &before, &after)
			links[p], b.R[p] = now.links, now.right
			last2, last, before, here = last, now, here, after
		}
		if out != nil {
			out = last.pack(last2.pack(out))
		}
	}
}

// substitute solves the lines of a block from their far ends, and goes on to the
// waves along the next axis, or to the step.
func (s *solver) substitute(b *cfd.Block, axis int, in, out []float64) {
	stride, links := b.Stride[axis], s.links[b]
	for first := range b.Lines(axis) {
		var next, next2 cfd.State
		if in != nil {
			in = in[copy(next[:], in):]
			in = in[copy(next2[:], in):]
		}
		for i := b.To[axis] - 1; i >= b.From[axis]; i-- {
			p := first + i*stride
			now, l := b.R[p], &links[p]
			for m := range now {
				now[m] -= l.near[system[m]]*next[m] + l.far[system[m]]*next2[m]
			}
			next2, next = next, now
			switch axis {
			case 0:
				b.R[p] = xToY(&now)
			case 1:
				b.R[p] = yToZ(&now)
			case 2:
				step := fromZ(&b.Gas[p], b.U[p][0], &now)
				for m := range step {
					b.U[p][m] += step[m]
				}
			}
		}
		if out != nil {
			out = out[copy(out, next[:]):]
			out = out[copy(out, next2[:]):]
		}
	}
}

func (r *row) pack(buf []float64) []float64 {
	buf = buf[copy(buf, r.near[:]):]
	buf = buf[copy(buf, r.far[:]):]
	return buf[copy(buf, r.right[:]):]
}

func (r *row) unpack(buf []float64) []float64 {
	buf = buf[copy(r.near[:], buf):]
	buf = buf[copy(r.far[:], buf):]
	return buf[copy(r.right[:], buf):]
}

// system says which system the right sides belong to.
var system = [5]int{0, 0, 0, 1, 2}

// Speeds are how fast things spread along an axis at a point.
type speeds struct{ gas, sound, diffusion float64 }

func speedsOf(g *cfd.Gas, axis int) speeds {
	return speeds{g.Velocity[axis], math.Sqrt(sound(g)), cfd.Conduction * cfd.Viscosity * g.Inverse}
}

// Equations are of five neighbouring points of a line: the differences of a step in
// time along an axis. Of all that diffuses, heat does so fastest: all do as it does.
type equations struct{ drift, diffusion, spread, damping float64 }

func newEquations(dt float64, k *cfd.Axis) equations {
	return equations{dt * k.First, dt * k.Second, k.Spread, dt * cfd.Damping}
}

// centre is what a point weighs in its own equation.
func (e *equations) centre(here *speeds) float64 {
	return 1 + 2*e.diffusion*(e.spread+here.diffusion) + 6*e.damping
}

// eliminate takes the two points before from the equation of a point.
func (e *equations) eliminate(now, last, last2 *row, centre float64, before, after *speeds) {
	near := -e.drift*before.gas - e.diffusion*(e.spread+before.diffusion) - 4*e.damping
	far := e.drift*after.gas - e.diffusion*(e.spread+after.diffusion) - 4*e.damping
	var weight, scale [3]float64 // of the point before, and of the equation
	for k, sign := range [3]float64{0, 1, -1} {
		w := near - sign*e.drift*before.sound - e.damping*last2.near[k]
		f := 1 / (centre - e.damping*last2.far[k] - w*last.near[k])
		now.near[k] = f * (far + sign*e.drift*after.sound - w*last.far[k])
		now.far[k] = f * e.damping
		weight[k], scale[k] = w, f
	}
	for m, k := range system {
		now.right[m] = scale[k] * (now.right[m] - e.damping*last2.right[m] - weight[k]*last.right[m])
	}
}
