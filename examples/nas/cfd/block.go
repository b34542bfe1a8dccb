package cfd

// margin is how many layers of points around a block are kept: those of the blocks
// next to it, which the fourth differences reach.
const margin = 2

// MinSize is the fewest points that a block may have along an axis.
const MinSize = 3

// A Block is a part of the grid. Its points are numbered from 0 along each axis; the
// margins have numbers below 0, and from Size on.
type Block struct {
	Box    // the points that are solved for: all but those on the faces of the cube
	Axes   [3]Axis
	Low    [3]int // the first point's place in the whole grid
	Size   [3]int
	Stride [3]int // from a point's index to that of the next along an axis
	U      []State
	Gas    []Gas   // of U, after Residual
	R      []State // the residual, and the step that is computed from it; 0 on the faces of the cube

	n       int // points of the whole grid along each axis
	forcing []State
}

// NewBlock returns the block that begins at low, of a grid of n points along each
// axis, with initial values.
func NewBlock(n int, low, size [3]int) *Block {
	b := &Block{Axes: axes(n), Low: low, Size: size, n: n}
	points := 1
	for d := range size {
		b.From[d] = max(0, 1-low[d])
		b.To[d] = min(size[d], n-1-low[d])
		b.Stride[d] = points
		points *= size[d] + 2*margin
	}
	b.U = make([]State, points)
	b.R = make([]State, points)
	b.Gas = make([]Gas, points)
	b.forcing = make([]State, points)
	b.force()
	b.Reset()
	return b
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

// Index returns the index of a point.
func (b *Block) Index(x, y, z int) int {
	return x + margin + (y+margin)*b.Stride[1] + (z+margin)*b.Stride[2]
}

// Inside says whether a block has another one next to it on a side.
func (b *Block) Inside(axis, side int) bool {
	if side == Near {
		return b.Low[axis] > 0
	}
	return b.Low[axis]+b.Size[axis] < b.n
}

// NextToFace says whether a number along an axis is that of the first or the last
// points that are solved for in the whole grid.
func (b *Block) NextToFace(axis, i int) bool {
	i += b.Low[axis]
	return i == 1 || i == b.n-2
}

// place returns where the point of an index is in the unit cube.
func (b *Block) place(p int) (at [3]float64) {
	h := 1 / float64(b.n-1)
	for d, i := range [3]int{p % b.Stride[1], p % b.Stride[2] / b.Stride[1], p / b.Stride[2]} {
		i += b.Low[d] - margin
		at[d] = float64(i) * h
		if i == b.n-1 {
			at[d] = 1
		}
	}
	return at
}

// fill sets U in the block and some layers around it.
func (b *Block) fill(layers int, value func(at [3]float64) State) {
	for p := range b.In(b.grown(layers)) {
		b.U[p] = value(b.place(p))
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

// Add adds a multiple of R, which is a step then, to U.
func (b *Block) Add(times float64) {
	for first, end := range b.Rows(b.Box) {
		u := b.U[first:end]
		r := b.R[first:end]
		for i := range u {
			for m := range u[i] {
				u[i][m] += times * r[i][m]
			}
		}
	}
}
