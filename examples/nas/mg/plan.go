package main

import "math/bits"

// The ranks form a box: each has a block of every grid. On the coarse grids there
// may be fewer planes across an axis than ranks along it; then the ranks that have
// none drop out, and the others have their neighbours farther away.
const (
	axisX = iota
	axisY
	axisZ
	axes
)

// A line is the ranks along an axis, with this rank's place among them.
type line struct {
	ranks, at int
	step      int // from the number of a rank to that of the next along the axis
}

// lines places a rank in the box of so many ranks, a power of two: as near to a
// cube as can be, and longer along the later axes.
func lines(rank, ranks int) [axes]line {
	log := bits.Len(uint(ranks)) - 1
	x := log / 3
	y := (log - x) / 2
	var box [axes]line
	step := 1
	for axis, log := range [axes]int{x, y, log - x - y} {
		n := 1 << log
		box[axis] = line{ranks: n, at: rank / step % n, step: step}
		step *= n
	}
	return box
}

// first returns how many of n planes the ranks before this one have.
func (l line) first(n int) int { return l.at * n / l.ranks }

// planes returns how many of n planes this rank has. If they do not suffice for
// all ranks, the last of every stride has one.
func (l line) planes(n int) int { return (l.at+1)*n/l.ranks - l.first(n) }

// stride returns how many places it is from a rank that has some of n planes to the
// next that has.
func (l line) stride(n int) int { return max(1, l.ranks/n) }

// neighbour returns the number of the rank so many places on, round the line.
func (l line) neighbour(rank, places int) int {
	return rank + ((l.at+places+l.ranks)%l.ranks-l.at)*l.step
}

// A share is the part of a grid that a rank has, and the ranks that have the points beyond it.
type share struct {
	size       [axes]int // points along each axis; none if the rank has dropped out
	first      [axes]int // points of others before them
	prev, next [axes]int // ranks
}

// shareOf returns what a rank has of a grid of n points a side.
func shareOf(box [axes]line, rank, n int) share {
	var s share
	for axis, l := range box {
		s.size[axis] = l.planes(n)
		s.first[axis] = l.first(n)
		s.prev[axis] = l.neighbour(rank, -l.stride(n))
		s.next[axis] = l.neighbour(rank, l.stride(n))
	}
	return s
}

// takesPart reports whether the rank has points of the grid.
func (s *share) takesPart() bool {
	return s.size[axisX] > 0 && s.size[axisY] > 0 && s.size[axisZ] > 0
}
