package cfd

import (
	"context"
	"fmt"
	"io"
	"math"

	"weft"
	"weft/examples/nas/npb"
)

// A Class is a size of a problem, with what must come out.
type Class struct {
	Points          int // along each axis
	Steps           int
	Dt              float64 // the length of a step
	Residual, Error State   // norms at the end
	Surface         float64 // the surface integral of the pressure, or 0: it is not compared
}

// A Solver is a rank's part of a benchmark: it embeds a Domain.
type Solver interface {
	domain() *Domain
	// Advance computes a step in time from the residual, and adds it to U.
	Advance(ctx context.Context) error
}

// A Benchmark is one of the three.
type Benchmark struct {
	Name       string
	Classes    map[string]Class
	Operations func(n float64) float64 // floating point, for a step of a grid of n points along each axis
	New        func(ctx context.Context, p *weft.Proc, c Class) (Solver, error)
}

// Run is the benchmark as one rank runs it.
func (m *Benchmark) Run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(m.Classes, name)
	if err != nil {
		return err
	}
	s, err := m.New(ctx, p, c)
	if err != nil {
		return err
	}
	d := s.domain()
	if p.Rank() != 0 {
		w = io.Discard
	}
	fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- %s Benchmark\n\n", m.Name)
	fmt.Fprintf(w, " Size: %dx%dx%d  (class %s)\n Iterations: %d    dt: %.7f\n Number of processes: %d\n\n", c.Points,
		c.Points, c.Points, name, c.Steps, c.Dt, p.Size())
	if err := steps(ctx, s, 1, io.Discard); err != nil { // not timed, and forgotten
		return err
	}
	for _, b := range d.Blocks {
		b.Reset()
	}
	if err := d.Group.Barrier(ctx); err != nil {
		return err
	}
	start := p.Now()
	if err := steps(ctx, s, c.Steps, w); err != nil {
		return err
	}
	if err := d.Group.Barrier(ctx); err != nil { // so that the slowest counts
		return err
	}
	took := p.Now() - start
	right, err := verify(ctx, d, c, w)
	if err != nil {
		return err
	}
	n := float64(c.Points)
	r := npb.Report{
		Name: m.Name, Class: name, Size: c.Points * c.Points * c.Points, Iterations: c.Steps, Time: took, Ranks: p.Size(),
		Operations: float64(c.Steps) * m.Operations(n), Operation: "floating point", Verified: right,
	}
	r.Print(w)
	if !right {
		return npb.ErrWrong
	}
	return nil
}

// steps goes some steps in time.
func steps(ctx context.Context, s Solver, n int, w io.Writer) error {
	for i := 1; i <= n; i++ {
		if i == 1 || i%20 == 0 || i == n {
			fmt.Fprintf(w, " Time step %4d\n", i)
		}
		if err := s.domain().Residual(ctx); err != nil {
			return err
		}
		if err := s.Advance(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tolerance is by which part of it a result may differ from what is known.
const tolerance = 1e-8

// verify compares the norms with those of the class.
func verify(ctx context.Context, d *Domain, c Class, w io.Writer) (right bool, err error) {
	if err := d.Residual(ctx); err != nil {
		return false, err
	}
	residual, err := d.residualNorm(ctx)
	if err != nil {
		return false, err
	}
	failed, err := d.errorNorm(ctx)
	if err != nil {
		return false, err
	}
	right = compare(w, "RMS-norms of residual", residual[:], c.Residual[:])
	right = compare(w, "RMS-norms of solution error", failed[:], c.Error[:]) && right
	if c.Surface == 0 {
		return right, nil
	}
	surface, err := d.surfaceIntegral(ctx)
	return compare(w, "surface integral", []float64{surface}, []float64{c.Surface}) && right, err
}

// compare prints results beside what is known, and whether all are right.
func compare(w io.Writer, what string, got, want []float64) bool {
	fmt.Fprintf(w, "\n Comparison of %s\n", what)
	all := true
	for i := range got {
		difference := math.Abs((got[i] - want[i]) / want[i])
		mark := ""
		if !(difference <= tolerance) { // so that NaN fails
			mark = "FAILURE:"
			all = false
		}
		fmt.Fprintf(w, " %-8s %2d %20.13e %20.13e %20.13e\n", mark, i+1, got[i], want[i], difference)
	}
	return all
}
