package cfd

import "iter"

// margin is how many layers of points around a block are kept: those of the blocks
// next to it, which the fourth differences reach.
const margin = 2

// MinSize is the fewest points that a block may have along an axis.
const MinSize = 3

// A Block is a box of the grid. Its points are numbered from 0 along each axis; the
// margins have numbers below 0, and from Size on.
type Block struct {
	Axes     [3]Axis
	Low      [3]int // the first point's place in the whole grid
	Size     [3]int
	From, To [3]int // the points that are solved for: all but those on the faces of the cube
	Stride   [3]int // from a point's index to that of the next along an axis
	U        []State
	Gas      []Gas   // of U, after Residual
	R        []State // the residual, and the step that is computed from it; 0 on the faces of the cube

	n       int // points of the whole grid along each axis
	forcing []State
}

// NewBlock returns the block that begins at low, of a grid of n points along each
// axis, with initial values.
func NewBlock(n int, low, size [3]int) *Block {
	b := &Block{Axes: axes(n), Low: low, Size: size, n: n}
	points := 1
	for d := range size {
		b.From[d], b.To[d] = max(0, 1-low[d]), min(size[d], n-1-low[d])
		b.Stride[d] = points
		points *= size[d] + 2*margin
	}
	b.U, b.R, b.Gas, b.forcing = make([]State, points), make([]State, points), make([]Gas, points), make([]State, points)
	b.force()
	b.Reset()
	return b
}

// Index returns the index of a point.
func (b *Block) Index(x, y, z int) int {
	return x + margin + (y+margin)*b.Stride[1] + (z+margin)*b.Stride[2]
}

// place returns where a point is in the unit cube.
func (b *Block) place(x, y, z int) (at [3]float64) {
	h := 1 / float64(b.n-1)
	for d, i := range [3]int{x, y, z} {
		i += b.Low[d]
		at[d] = float64(i) * h
		if i == b.n-1 {
			at[d] = 1
		}
	}
	return at
}

// grown returns the corners of the block with some layers around it.
func (b *Block) grown(layers int) (from, to [3]int) {
	for d := range b.Size {
		from[d], to[d] = -layers, b.Size[d]+layers
	}
	return from, to
}

// rows goes through the y and z of a box.
func rows(from, to [3]int) iter.Seq2[int, int] {
	return func(yield func(y, z int) bool) {
		for z := from[2]; z < to[2]; z++ {
			for y := from[1]; y < to[1]; y++ {
				if !yield(y, z) {
					return
				}
			}
		}
	}
}

// Rows goes through the rows along x of the points that are solved for: the indexes
// at which they begin and end.
func (b *Block) Rows() iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for y, z := range rows(b.From, b.To) {
			if !yield(b.Index(b.From[0], y, z), b.Index(b.To[0], y, z)) {
				return
			}
		}
	}
}

// Lines goes through the lines of points along an axis that are solved for: the
// index of the point numbered 0 of each.
func (b *Block) Lines(axis int) iter.Seq[int] {
	from, to := b.From, b.To
	from[axis], to[axis] = 0, 1
	return func(yield func(first int) bool) {
		for y, z := range rows(from, to) {
			for x := from[0]; x < to[0]; x++ {
				if !yield(b.Index(x, y, z)) {
					return
				}
			}
		}
	}
}

// fill sets U in the block and some layers around it.
func (b *Block) fill(layers int, value func(at [3]float64) State) {
	from, to := b.grown(layers)
	for y, z := range rows(from, to) {
		for x := from[0]; x < to[0]; x++ {
			b.U[b.Index(x, y, z)] = value(b.place(x, y, z))
		}
	}
}

// Reset goes back to the initial values.
func (b *Block) Reset() { b.fill(0, initial) }

// force sets the forcing so that the residual of the exact solution is 0. Afterwards
// the margins hold the exact solution: those outside the cube, and at the block's
// edges, stay so, and are multiplied by 0.
func (b *Block) force() {
	b.fill(margin, Exact)
	b.Residual()
	for i, r := range b.R {
		for m := range r {
			b.forcing[i][m] = -r[m]
		}
	}
}

// Gather appends a box of a field of the block to a buffer.
func (b *Block) Gather(buf []float64, field []State, from, to [3]int) []float64 {
	for y, z := range rows(from, to) {
		first := b.Index(from[0], y, z)
		for i := range field[first:][:to[0]-from[0]] {
			buf = append(buf, field[first+i][:]...)
		}
	}
	return buf
}

// Scatter puts what was gathered into a box of a field, and returns the rest.
func (b *Block) Scatter(buf []float64, field []State, from, to [3]int) []float64 {
	for y, z := range rows(from, to) {
		first := b.Index(from[0], y, z)
		for i := range field[first:][:to[0]-from[0]] {
			buf = buf[copy(field[first+i][:], buf):]
		}
	}
	return buf
}

// Far, as a side of a block, is that with the highest numbers along an axis, and
// Near that with the lowest.
const (
	Near = iota
	Far
)

// Edge returns the outermost points of a block along an axis: what the margin of the
// next block on that side is filled with.
func (b *Block) Edge(axis, side int) (from, to [3]int) {
	to = b.Size
	if side == Near {
		to[axis] = margin
	} else {
		from[axis] = to[axis] - margin
	}
	return from, to
}

// Margin returns the points next to a block along an axis.
func (b *Block) Margin(axis, side int) (from, to [3]int) {
	to = b.Size
	if side == Near {
		from[axis], to[axis] = -margin, 0
	} else {
		from[axis], to[axis] = to[axis], to[axis]+margin
	}
	return from, to
}

// EdgeLength returns how many numbers an edge is.
func (b *Block) EdgeLength(axis int) int {
	return len(State{}) * margin * b.Size[0] * b.Size[1] * b.Size[2] / b.Size[axis]
}

// Part returns where part i of n points begins when they are divided among parts as
// evenly as can be, and how many it has.
func Part(n, parts, i int) (low, size int) {
	low = i*(n/parts) + min(i, n%parts)
	size = n / parts
	if i < n%parts {
		size++
	}
	return low, size
}

// Add adds a multiple of R, which is a step then, to U.
func (b *Block) Add(times float64) {
	for first, end := range b.Rows() {
		u, r := b.U[first:end], b.R[first:end]
		for i := range u {
			for m := range u[i] {
				u[i][m] += times * r[i][m]
			}
		}
	}
}
