package cfd

import "iter"

// Near is the side of a block with the lowest numbers along an axis, and Far that with
// the highest.
const (
	Near = iota
	Far
)

// A Box is some points of a block or around it, from one corner on, to another, which
// is not one of them.
type Box struct{ From, To [3]int }

// Points returns how many points there are in a box.
func (x Box) Points() int {
	return (x.To[0] - x.From[0]) * (x.To[1] - x.From[1]) * (x.To[2] - x.From[2])
}

// Layer returns the part of a box that has a number along an axis.
func (x Box) Layer(axis, i int) Box {
	x.From[axis] = i
	x.To[axis] = i + 1
	return x
}

// grown returns the block with some layers around it.
func (b *Block) grown(layers int) (x Box) {
	for d := range b.Size {
		x.From[d] = -layers
		x.To[d] = b.Size[d] + layers
	}
	return x
}

// Edge returns the outermost layers of a block on one side.
func (b *Block) Edge(axis, side, layers int) Box {
	x := Box{To: b.Size}
	if side == Near {
		x.To[axis] = layers
	} else {
		x.From[axis] = x.To[axis] - layers
	}
	return x
}

// Beyond returns the layers next to a block on one side.
func (b *Block) Beyond(axis, side, layers int) Box {
	x := Box{To: b.Size}
	if side == Near {
		x.From[axis] = -layers
		x.To[axis] = 0
	} else {
		x.From[axis], x.To[axis] = x.To[axis], x.To[axis]+layers
	}
	return x
}

// Inner returns a box without the lines along an axis that are not solved for.
func (b *Block) Inner(axis int, x Box) Box {
	for d := range x.From {
		if d != axis {
			x.From[d] = b.From[d]
			x.To[d] = b.To[d]
		}
	}
	return x
}

// places goes through the y and z of a box.
func (x Box) places() iter.Seq2[int, int] {
	return func(yield func(y, z int) bool) {
		for z := x.From[2]; z < x.To[2]; z++ {
			for y := x.From[1]; y < x.To[1]; y++ {
				if !yield(y, z) {
					return
				}
			}
		}
	}
}

// Rows goes through the rows along x of a box: the indexes at which they begin and
// end.
func (b *Block) Rows(x Box) iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for y, z := range x.places() {
			if !yield(b.Index(x.From[0], y, z), b.Index(x.To[0], y, z)) {
				return
			}
		}
	}
}

// In goes through the indexes of the points of a box.
func (b *Block) In(x Box) iter.Seq[int] {
	return func(yield func(p int) bool) {
		for first, end := range b.Rows(x) {
			for p := first; p < end; p++ {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// Gather appends a box of a field of the block to a buffer.
func (b *Block) Gather(buf []float64, field []State, x Box) []float64 {
	for p := range b.In(x) {
		buf = append(buf, field[p][:]...)
	}
	return buf
}

// Scatter puts what was gathered into a box of a field, and returns the rest.
func (b *Block) Scatter(buf []float64, field []State, x Box) []float64 {
	for p := range b.In(x) {
		buf = buf[copy(field[p][:], buf):]
	}
	return buf
}

// A sweep along an axis goes through a block front by front: a front is a row of
// points across the axis, each of which needs what lies along the axis only. The
// fronts along x lie along y, all others along x.
var (
	across = [3]int{1, 0, 0}
	other  = [3]int{2, 2, 1}
)

// Across returns how many points the fronts of an axis have, and how far apart their
// indexes are.
func (b *Block) Across(axis int) (n, step int) {
	d := across[axis]
	return b.To[d] - b.From[d], b.Stride[d]
}

// Fronts goes through the fronts of an axis towards one side: their number along the
// axis, and the index of their first point.
func (b *Block) Fronts(axis, side int) iter.Seq2[int, int] {
	begin := b.From[axis]
	end := b.To[axis]
	step := 1
	if side == Near {
		begin, end, step = end-1, begin-1, -1
	}
	rest := other[axis]
	return func(yield func(i, first int) bool) {
		for at := b.From; at[rest] < b.To[rest]; at[rest]++ {
			for at[axis] = begin; at[axis] != end; at[axis] += step {
				if !yield(at[axis], b.Index(at[0], at[1], at[2])) {
					return
				}
			}
		}
	}
}
