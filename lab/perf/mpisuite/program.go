package mpisuite

import (
	"math"
	"os"

	"weft/mpi"
)

// programs returns the benchmarks that are small programs: HPCC's PTRANS, a multiplication of matrices by SUMMA, which
// has the shape of HPL (panels that are broadcast along rows and columns, and multiplied), and parallel files.
func programs() []bench {
	return []bench{
		{name: "PTRANS", sized: true, many: 1, make: transpose, work: func(size, n int) float64 {
			q := side(size)
			return float64(n * n * q * q * 8)
		}},
		{name: "SUMMA", sized: true, many: 1, make: multiply, work: func(size, n int) float64 {
			m, w, steps, _, _ := panels(size, n)
			return 2 * float64(m*m*w*steps*n)
		}},
		{name: "FileWrite", sized: true, many: 1, make: func(e *env) func() {
			f := e.openFile()
			return func() { mpi.Check(f.WriteAtAll(e.ctx, mpi.Of(e.sums), 0)) }
		}, work: fileBytes},
		{name: "FileRead", sized: true, many: 1, make: func(e *env) func() {
			f := e.openFile()
			mpi.Check(f.WriteAtAll(e.ctx, mpi.Of(e.sums), 0))
			return func() { mpi.Must(f.ReadAtAll(e.ctx, mpi.Of(e.sums), 0)) }
		}, work: fileBytes},
	}
}

// side returns the rows of a square block of as many numbers as some bytes hold.
func side(size int) int { return max(int(math.Sqrt(float64(size/8))), 1) }

// transpose adds to a matrix the transposed of another one: each member has a row of n blocks.
func transpose(e *env) func() {
	q := side(e.size)
	words := q * q
	a := make([]float64, words*e.n)
	b := make([]float64, words*e.n)
	c := make([]float64, words*e.n)
	return func() {
		mpi.Check(e.c.AllToAll(e.ctx, mpi.Of(a), mpi.Of(b)))
		for k := range e.n {
			from := b[k*words:][:words]
			to := c[k*words:][:words]
			for i := range q {
				row := to[i*q:][:q]
				for j := range row {
					row[j] += from[j*q+i]
				}
			}
		}
	}
}

// panels returns how a multiplication is divided among n members in a grid: each has m by m numbers of the result; in
// each of some steps a panel of w columns, and one of w rows, are broadcast.
func panels(size, n int) (m, w, steps, rows, columns int) {
	dims := []int{0, 0}
	mpi.Check(mpi.Dims(n, dims))
	rows = dims[0]
	columns = dims[1]
	w = max(side(size)/rows, 1)
	return w * rows, w, rows * columns, rows, columns
}

// multiply multiplies matrices.
func multiply(e *env) func() {
	m, w, steps, rows, columns := panels(e.size, e.n)
	grid := mpi.Must(e.c.Cart(e.ctx, []int{rows, columns}, []bool{false, false}))
	row := mpi.Must(grid.Sub(e.ctx, []bool{false, true}))
	column := mpi.Must(grid.Sub(e.ctx, []bool{true, false}))
	a := make([]float64, m*m) // the panels of A one behind the other, each w columns of m
	b := make([]float64, columns*w*m)
	c := make([]float64, m*m)
	left := make([]float64, w*m)
	upper := make([]float64, w*m)
	return func() {
		for t := range steps {
			if row.Rank() == t/rows {
				copy(left, a[t%rows*w*m:])
			}
			mpi.Check(row.Broadcast(e.ctx, mpi.Of(left), t/rows))
			if column.Rank() == t/columns {
				copy(upper, b[t%columns*w*m:])
			}
			mpi.Check(column.Broadcast(e.ctx, mpi.Of(upper), t/columns))
			for i := range m {
				to := c[i*m:][:m]
				for k := range w {
					v := left[k*m+i]
					for j, u := range upper[k*m:][:m] {
						to[j] += v * u
					}
				}
			}
		}
	}
}

// openFile opens a file in which the members' blocks of 4 KiB, or of all if that is less, take turns.
func (e *env) openFile() *mpi.File {
	f := mpi.Must(mpi.OpenFile(e.ctx, e.c, e.file, os.O_RDWR|os.O_CREATE, 0o600))
	block := min(512, len(e.sums))
	mpi.Check(f.SetView(e.ctx, 0, mpi.Vector(e.me*block, 1, block, 1), block*e.n))
	e.opened = f
	return f
}

// fileBytes returns how many bytes all members write.
func fileBytes(size, n int) float64 { return float64(max(size/8, 1) * 8 * n * n) }
