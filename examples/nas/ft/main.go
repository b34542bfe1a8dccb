// FT is the Fourier Transform benchmark of the NAS Parallel Benchmarks: a partial
// differential equation in three dimensions, solved in the space of frequencies.
// Each step takes an inverse transform, and for that all ranks exchange all they
// have.
//
//	weft run -n 4 ./examples/nas/ft -class S
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/cmplx"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

func main() { npb.Main("S, W or A", run) }

// A class is a size of the problem, with the checksums after each step.
type class struct {
	nx, ny, nz int
	checksums  []complex128
}

var classes = map[string]class{
	"S": {64, 64, 64, []complex128{
		5.546087004964e2 + 4.845363331978e2i, 5.546385409189e2 + 4.865304269511e2i, 5.546148406171e2 + 4.883910722336e2i,
		5.545423607415e2 + 4.901273169046e2i, 5.544255039624e2 + 4.917475857993e2i, 5.542683411902e2 + 4.932597244941e2i,
	}},
	"W": {128, 128, 32, []complex128{
		5.673612178944e2 + 5.293246849175e2i, 5.631436885271e2 + 5.282149986629e2i, 5.594024089970e2 + 5.270996558037e2i,
		5.560698047020e2 + 5.260027904925e2i, 5.530898991250e2 + 5.249400845633e2i, 5.504159734538e2 + 5.239212247086e2i,
	}},
	"A": {256, 256, 128, []complex128{
		5.046735008193e2 + 5.114047905510e2i, 5.059412319734e2 + 5.098809666433e2i, 5.069376896287e2 + 5.098144042213e2i,
		5.077892868474e2 + 5.101336130759e2i, 5.085233095391e2 + 5.104914655194e2i, 5.091487099959e2 + 5.107917842803e2i,
	}},
}

const tolerance = 1e-12

// run runs a class, its beginning once to warm up, and compares the checksum of every step with the one that is
// known.
func run(ctx context.Context, p *weft.Proc, name string, w io.Writer) error {
	c, err := npb.Find(classes, name)
	if err != nil {
		return err
	}
	f, err := newField(ctx, p, c)
	if err != nil {
		return err
	}
	if err := f.begin(ctx); err != nil { // not timed, and forgotten
		return err
	}
	if err := f.g.Barrier(ctx); err != nil {
		return err
	}
	if p.Rank() == 0 {
		fmt.Fprintf(w, "\n\n NAS Parallel Benchmarks in Go over weft -- FT Benchmark\n\n")
		fmt.Fprintf(w, " Size: %dx%dx%d\n Iterations: %d\n Number of processes: %d\n", c.nx, c.ny, c.nz, len(c.checksums),
			p.Size())
	}
	start := p.Now()
	if err := f.begin(ctx); err != nil {
		return err
	}
	right := true
	for t, want := range c.checksums {
		if err := f.step(ctx); err != nil {
			return err
		}
		sum, err := f.checksum(ctx)
		if err != nil {
			return err
		}
		right = right && near(real(sum), real(want)) && near(imag(sum), imag(want))
		if p.Rank() == 0 {
			fmt.Fprintf(w, " T = %4d     Checksum = %22.12e %22.12e\n", t+1, real(sum), imag(sum))
		}
	}
	took := p.Now() - start
	if p.Rank() == 0 {
		n := float64(c.nx * c.ny * c.nz)
		logN := math.Log(float64(c.nx * c.ny * c.nz))
		r := npb.Report{
			Name: "FT", Class: name, Size: c.nx * c.ny * c.nz, Iterations: len(c.checksums), Time: took, Ranks: p.Size(),
			Operations: n * (14.8157 + 7.19641*logN + (5.23518+7.21113*logN)*float64(len(c.checksums))),
			Operation:  "floating point", Verified: right,
		}
		r.Print(w)
	}
	if !right {
		return npb.ErrWrong
	}
	return nil
}

func near(got, want float64) bool { return math.Abs((got-want)/want) <= tolerance }

// checksum adds up 1,024 places of the field, all over it.
func (f *field) checksum(ctx context.Context) (complex128, error) {
	sum := []complex128{0}
	for j := 1; j <= 1024; j++ {
		x := j % f.nx
		y := 3 * j % f.ny
		z := 5 * j % f.nz
		if z >= f.z0 && z < f.z0+f.zs {
			sum[0] += f.space[((z-f.z0)*f.ny+y)*f.nx+x]
		}
	}
	err := mpi.AllReduce(ctx, f.g, sum, mpi.Sum)
	if cmplx.IsNaN(sum[0]) {
		return 0, npb.ErrWrong
	}
	return sum[0] / complex(float64(f.nx*f.ny*f.nz), 0), err
}
