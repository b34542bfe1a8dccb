package mpi

import (
	"context"
	"fmt"
	"slices"
)

// A topology says which members are neighbours.
type topology struct {
	dims     []int // of a grid, or nil
	periodic []bool
	at       []int // this member's coordinates
	from, to []int // neighbours that this member receives from and sends to; ProcNull beyond the edge of a grid
}

// Dims fills the zeros in dims, so that a grid of these dimensions has n members and the new ones are as equal as
// possible, the largest first (MPI_Dims_create). It returns an error if that cannot be.
func Dims(n int, dims []int) error {
	rest := n
	free := 0
	for _, d := range dims {
		switch {
		case d < 0 || d > 0 && rest%d != 0:
			return fmt.Errorf("mpi: %d members do not fit into a grid of %v", n, dims)
		case d == 0:
			free++
		default:
			rest /= d
		}
	}
	if n < 1 || free == 0 && rest != 1 {
		return fmt.Errorf("mpi: %d members do not fit into a grid of %v", n, dims)
	}
	found := slices.Repeat([]int{1}, free)
	for f := 2; rest > 1; f++ { // the smallest factors come first, so the largest are given out last, in reverse
		if f*f > rest {
			f = rest
		}
		for rest%f == 0 {
			rest /= f
			found = append(found, f)
		}
	}
	factors := found[free:]
	found = found[:free]
	for _, f := range slices.Backward(factors) {
		least := 0
		for i := range found {
			if found[i] < found[least] {
				least = i
			}
		}
		found[least] *= f
	}
	slices.Sort(found)
	for i := range dims {
		if dims[i] == 0 {
			free--
			dims[i] = found[free]
		}
	}
	return nil
}

// Cart makes a communicator whose members are a grid: the last coordinate changes fastest with the rank. Periodic says
// in which dimensions the last neighbours the first. Members beyond those of the grid get nil. All members call it.
func (c *Comm) Cart(ctx context.Context, dims []int, periodic []bool) (*Comm, error) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	if n < 1 || n > c.Size() || len(periodic) != len(dims) {
		return nil, fmt.Errorf("mpi: a grid of %v, periodic %v, of the %d members of %v", dims, periodic, c.Size(), c)
	}
	color := 0
	if c.me >= n {
		color = Undefined
	}
	d, err := c.Split(ctx, color, 0)
	if err == nil && d != nil {
		d.grid(dims, periodic)
	}
	return d, err
}

// grid makes the members of a communicator a grid.
func (c *Comm) grid(dims []int, periodic []bool) {
	t := topology{dims: slices.Clone(dims), periodic: slices.Clone(periodic)}
	c.topology = t
	t.at = c.Coordinates(c.me)
	c.topology = t
	for i := range dims {
		from, to := c.Shift(i, 1)
		t.from = append(t.from, from, to)
	}
	t.to = t.from
	c.topology = t
}

// Coordinates returns where in the grid a member is.
func (c *Comm) Coordinates(rank int) []int {
	at := make([]int, len(c.topology.dims))
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = rank % c.topology.dims[i]
		rank /= c.topology.dims[i]
	}
	return at
}

// RankAt returns the member at some coordinates of the grid, or ProcNull if there is none. In periodic dimensions all
// coordinates are those of a member.
func (c *Comm) RankAt(at ...int) int {
	rank := 0
	for i, n := range c.topology.dims {
		x := at[i]
		if c.topology.periodic[i] {
			x = (x%n + n) % n
		}
		if x < 0 || x >= n {
			return ProcNull
		}
		rank = rank*n + x
	}
	return rank
}

// Shift returns from which member this one receives and to which it sends, if all of the grid send by as many steps in
// a dimension. Each may be ProcNull.
func (c *Comm) Shift(dim, steps int) (from, to int) {
	at := slices.Clone(c.topology.at)
	at[dim] += steps
	to = c.RankAt(at...)
	at[dim] -= 2 * steps
	return c.RankAt(at...), to
}

// Sub makes a communicator of the members of the grid that share the coordinates in the dimensions that are not kept:
// they are a grid of the others. All members call it.
func (c *Comm) Sub(ctx context.Context, keep []bool) (*Comm, error) {
	t := &c.topology
	if len(keep) != len(t.dims) {
		return nil, fmt.Errorf("mpi: Sub keeps %v of a grid of %d dimensions", keep, len(t.dims))
	}
	color := 0
	var dims []int
	var periodic []bool
	for i, n := range t.dims {
		if keep[i] {
			dims = append(dims, n)
			periodic = append(periodic, t.periodic[i])
		} else {
			color = color*n + t.at[i]
		}
	}
	d, err := c.Split(ctx, color, 0)
	if err == nil {
		d.grid(dims, periodic)
	}
	return d, err
}

// Graph makes a communicator with the same members, in which this one receives from some and sends to some, for the
// operations among neighbours (MPI_Dist_graph_create_adjacent). If a sends to b, then b must receive from a, equally
// often. All members call it.
func (c *Comm) Graph(ctx context.Context, from, to []int) (*Comm, error) {
	d, err := c.Dup(ctx)
	if err != nil {
		return nil, err
	}
	for _, place := range slices.Concat(from, to) {
		if place != ProcNull {
			if err := d.has(place); err != nil {
				d.Revoke(err)
				return nil, err
			}
		}
	}
	d.topology = topology{from: slices.Clone(from), to: slices.Clone(to)}
	return d, nil
}

// Neighbors returns from which members this one receives and to which it sends in the operations among neighbours. In a
// grid these are, for each dimension, the one before and the one behind this one. The caller must not change the
// slices.
func (c *Comm) Neighbors() (from, to []int) { return c.topology.from, c.topology.to }
