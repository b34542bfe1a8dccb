package main

import (
	"math"
	"slices"

	"weft/examples/nas/npb"
)

// A block is some rows and columns of the matrix, row by row.
type block struct {
	first []int32 // of each row, and the end of the last
	col   []int32
	value []float64
}

// times computes q = A p.
func (b *block) times(q, p []float64) {
	for i := range q {
		value := b.value[b.first[i]:b.first[i+1]]
		col := b.col[b.first[i]:b.first[i+1]]
		var even, odd float64 // so that one addition need not wait for another
		for len(value) > 1 && len(col) > 1 {
			even += value[0] * p[col[0]]
			odd += value[1] * p[col[1]]
			value = value[2:]
			col = col[2:]
		}
		if len(value) > 0 && len(col) > 0 {
			even += value[0] * p[col[0]]
		}
		q[i] = even + odd
	}
}

// A sparse is a sparse vector.
type sparse struct {
	at    []int32
	value []float64
}

// draw draws a vector with so many elements at random places, and sets that at
// place i to a half.
func (v *sparse) draw(r *npb.Random, n, nonzeros, i int) {
	power := 1
	for power < n {
		power *= 2
	}
	v.at = v.at[:0]
	v.value = v.value[:0]
	for len(v.at) < nonzeros {
		value := r.Next()
		place := int32(float64(power) * r.Next())
		if int(place) < n && !slices.Contains(v.at, place) {
			v.at = append(v.at, place)
			v.value = append(v.value, value)
		}
	}
	if k := slices.Index(v.at, int32(i)); k >= 0 {
		v.value[k] = 0.5
	} else {
		v.at = append(v.at, int32(i))
		v.value = append(v.value, 0.5)
	}
}

// An entry is a part of an element of the matrix.
type entry struct {
	row, col int32
	value    float64
}

// newBlock makes the rows [r0,r1) and columns [c0,c1) of the matrix: the sum of the
// outer products of random vectors, with weights that fall from 1 to rcond, plus
// rcond, less the shift, on the diagonal. Every rank draws all vectors.
func newBlock(c class, r0, r1, c0, c1 int) *block {
	random := npb.NewRandom(npb.Seed, 1)
	ratio := math.Pow(rcond, 1/float64(c.n))
	weight := 1.0
	var entries []entry
	var v sparse
	for i := range c.n {
		v.draw(&random, c.n, c.nonzeros, i)
		for k, row := range v.at {
			if int(row) < r0 || int(row) >= r1 {
				continue
			}
			for m, col := range v.at {
				if int(col) < c0 || int(col) >= c1 {
					continue
				}
				value := v.value[m] * (weight * v.value[k])
				if int(row) == i && int(col) == i {
					value += rcond - c.shift
				}
				entries = append(entries, entry{row - int32(r0), col - int32(c0), value})
			}
		}
		weight *= ratio
	}
	return assemble(entries, r1-r0)
}

// assemble adds up entries of one place.
func assemble(entries []entry, rows int) *block {
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.row != b.row {
			return int(a.row - b.row)
		}
		return int(a.col - b.col)
	})
	b := &block{first: make([]int32, rows+1)}
	row := 0
	for i, e := range entries {
		for ; row < int(e.row); row++ {
			b.first[row+1] = int32(len(b.col))
		}
		if i > 0 && entries[i-1].row == e.row && entries[i-1].col == e.col {
			b.value[len(b.value)-1] += e.value
			continue
		}
		b.col = append(b.col, e.col)
		b.value = append(b.value, e.value)
	}
	for ; row < rows; row++ {
		b.first[row+1] = int32(len(b.col))
	}
	return b
}
