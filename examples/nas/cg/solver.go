package main

import (
	"context"
	"math"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

// A solver is one rank's part. The ranks form a grid of rows × cols, cols being
// rows or twice that. Vectors are cut into as many segments as there are columns;
// a rank has the segment of its column, and the block of the matrix that its
// column's segment and its row's part meet in.
type solver struct {
	class
	rows, cols int
	row, col   int
	all        *mpi.Comm
	line       *mpi.Comm // the ranks of our row
	partner    int       // has the part of a product that we need, and needs ours
	a          *block
	theirs     [2]int // the part of our rows that the partner needs

	x, z, p, q, r []float64 // segments
	w             []float64 // a product of our block: a part of each of our rows
	one           [1]float64
}

// newSolver divides the matrix among rows × cols ranks, as square as a power of two allows, and makes this rank's
// block of it.
func newSolver(ctx context.Context, p *weft.Proc, c class) (*solver, error) {
	n := p.Size()
	if n&(n-1) != 0 {
		return nil, &npb.RanksError{Ranks: n, Must: "a power of two"}
	}
	s := &solver{class: c, rows: 1}
	for s.rows*s.rows*4 <= n {
		s.rows *= 2
	}
	s.cols = n / s.rows
	s.row = p.Rank() / s.cols
	s.col = p.Rank() % s.cols
	var err error
	s.all = mpi.World(p)
	if s.line, err = s.all.Split(ctx, s.row, s.col); err != nil {
		return nil, err
	}
	wide := s.cols / s.rows // segments in the part of a row of ranks
	odd := s.col % wide
	s.partner = s.col/wide*s.cols + wide*s.row + odd
	r0 := s.segment(wide * s.row)[0]
	r1 := s.segment(wide*s.row + wide - 1)[1]
	own := s.segment(s.col)
	s.theirs = s.segment(wide*s.row + odd)
	s.theirs[0] -= r0
	s.theirs[1] -= r0
	s.a = newBlock(c, r0, r1, own[0], own[1])
	s.w = make([]float64, r1-r0)
	for _, v := range []*[]float64{&s.x, &s.z, &s.p, &s.q, &s.r} {
		*v = make([]float64, own[1]-own[0])
	}
	s.reset()
	return s, nil
}

// segment returns where a segment of the vectors begins and ends.
func (s *solver) segment(i int) [2]int { return [2]int{s.n * i / s.cols, s.n * (i + 1) / s.cols} }

// reset sets x to ones, with which every run begins.
func (s *solver) reset() {
	for i := range s.x {
		s.x[i] = 1
	}
}

// times computes q = A p, for segments of both: the product of our block, added up
// along the row of ranks, and exchanged with the partner, which turns parts of
// rows into parts of columns.
func (s *solver) times(ctx context.Context, q, p []float64) error {
	s.a.times(s.w, p)
	if err := mpi.AllReduce(ctx, s.line, s.w, mpi.Sum); err != nil {
		return err
	}
	part := s.w[s.theirs[0]:s.theirs[1]]
	if s.partner == s.all.Rank() {
		copy(q, part)
		return nil
	}
	_, err := s.all.SendRecv(ctx, mpi.Of(part), s.partner, 0, mpi.Of(q), s.partner, 0)
	return err
}

// dot returns the product of two vectors, of which each row of ranks has all
// segments.
func (s *solver) dot(ctx context.Context, a, b []float64) (float64, error) {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	s.one[0] = sum
	err := mpi.AllReduce(ctx, s.line, s.one[:], mpi.Sum)
	return s.one[0], err
}

// solve approximates z = A⁻¹x by conjugate gradients.
func (s *solver) solve(ctx context.Context) error {
	clear(s.z)
	copy(s.r, s.x)
	copy(s.p, s.r)
	rho, err := s.dot(ctx, s.r, s.r)
	if err != nil {
		return err
	}
	for range inner {
		if err := s.times(ctx, s.q, s.p); err != nil {
			return err
		}
		d, err := s.dot(ctx, s.p, s.q)
		if err != nil {
			return err
		}
		alpha := rho / d
		for i := range s.z {
			s.z[i] += alpha * s.p[i]
			s.r[i] -= alpha * s.q[i]
		}
		before := rho
		if rho, err = s.dot(ctx, s.r, s.r); err != nil {
			return err
		}
		beta := rho / before
		for i := range s.p {
			s.p[i] = s.r[i] + beta*s.p[i]
		}
	}
	return nil
}

// iterate is one step of inverse iteration; it returns the eigenvalue.
func (s *solver) iterate(ctx context.Context) (zeta float64, err error) {
	if err := s.solve(ctx); err != nil {
		return 0, err
	}
	xz, err := s.dot(ctx, s.x, s.z)
	if err != nil {
		return 0, err
	}
	zz, err := s.dot(ctx, s.z, s.z)
	if err != nil {
		return 0, err
	}
	for i := range s.x {
		s.x[i] = s.z[i] / math.Sqrt(zz)
	}
	return s.shift + 1/xz, nil
}
