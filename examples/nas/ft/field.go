package main

import (
	"context"
	"fmt"
	"math"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

// A field is one rank's part of a field of complex numbers: in space some planes of
// equal z, among the frequencies some of equal y.
type field struct {
	class
	g      *mpi.Comm
	z0, zs int // our planes in space
	y0, ys int // our planes among the frequencies

	space []complex128 // by z, y, x
	freq  []complex128 // by y, x, z
	decay []float64    // of each frequency, in a step
	out   []complex128 // what goes to other ranks
	in    []complex128 // what comes from them
	lines []complex128 // some that are transformed together

	alongX, alongY, alongZ *fft
}

// alpha is how fast the field decays.
const alpha = 1e-6

// newField returns this rank's planes of the field. The large arrays come from mpi.Alloc, as all that an
// all-to-all exchanges.
func newField(ctx context.Context, p *weft.Proc, c class) (*field, error) {
	n := p.Size()
	if n&(n-1) != 0 || n > min(c.ny, c.nz) {
		return nil, &npb.RanksError{Ranks: n, Must: fmt.Sprintf("a power of two up to %d", min(c.ny, c.nz))}
	}
	g := mpi.World(p)
	f := &field{
		class: c, g: g, zs: c.nz / n, ys: c.ny / n, alongX: newFFT(c.nx), alongY: newFFT(c.ny), alongZ: newFFT(c.nz),
	}
	f.z0 = p.Rank() * f.zs
	f.y0 = p.Rank() * f.ys
	size := c.nx * c.ny * f.zs
	for _, v := range []*[]complex128{&f.space, &f.freq, &f.out, &f.in} {
		var err error
		if *v, err = mpi.Alloc[complex128](p, size); err != nil {
			return nil, err
		}
	}
	f.decay = make([]float64, size)
	f.lines = make([]complex128, max(tile*c.ny, c.nz))
	return f, nil
}

// begin makes the field and how it decays, and transforms it into frequencies.
func (f *field) begin(ctx context.Context) error {
	r := npb.NewRandom(npb.Seed, 2*uint64(f.nx*f.ny*f.z0))
	for i := range f.space {
		re := r.Next()
		f.space[i] = complex(re, r.Next())
	}
	signed := func(i, n int) int { return (i+n/2)%n - n/2 }
	at := 0
	for y := range f.ys {
		for x := range f.nx {
			ky := signed(y+f.y0, f.ny)
			kx := signed(x, f.nx)
			for z := range f.nz {
				kz := signed(z, f.nz)
				f.decay[at] = math.Exp(-4 * alpha * math.Pi * math.Pi * float64(kx*kx+ky*ky+kz*kz))
				at++
			}
		}
	}
	return f.transform(ctx)
}

// transform turns space into frequencies.
func (f *field) transform(ctx context.Context) error {
	f.planes(false)
	// Each rank gets its planes of y, with our places of z together.
	for y := range f.ny {
		transpose(matrix{f.out[y*f.nx*f.zs:], f.zs}, matrix{f.space[y*f.nx:], f.ny * f.nx}, f.zs, f.nx)
	}
	if err := f.g.AllToAll(ctx, mpi.Of(f.out), mpi.Of(f.in)); err != nil {
		return err
	}
	lines := f.ys * f.nx
	for i := range lines {
		line := f.freq[i*f.nz:][:f.nz]
		for from := range f.g.Size() {
			copy(line[from*f.zs:], f.in[(from*lines+i)*f.zs:][:f.zs])
		}
		f.alongZ.run(line, false)
	}
	return nil
}

// step lets the frequencies decay for a step in time, and turns them into space.
func (f *field) step(ctx context.Context) error {
	lines, line := f.ys*f.nx, f.lines[:f.nz]
	for i := range lines {
		freq := f.freq[i*f.nz:][:len(line)]
		decay := f.decay[i*f.nz:][:len(line)]
		for z := range line {
			v := complex(real(freq[z])*decay[z], imag(freq[z])*decay[z])
			freq[z] = v
			line[z] = v
		}
		f.alongZ.run(line, true)
		for to := range f.g.Size() {
			copy(f.out[(to*lines+i)*f.zs:], line[to*f.zs:][:f.zs])
		}
	}
	if err := f.g.AllToAll(ctx, mpi.Of(f.out), mpi.Of(f.in)); err != nil {
		return err
	}
	for y := range f.ny {
		transpose(matrix{f.space[y*f.nx:], f.ny * f.nx}, matrix{f.in[y*f.nx*f.zs:], f.zs}, f.nx, f.zs)
	}
	f.planes(true)
	return nil
}

// planes transforms our planes of equal z in both directions.
func (f *field) planes(inverse bool) {
	lines := matrix{f.lines, f.ny}
	for z := range f.zs {
		plane := f.space[z*f.ny*f.nx:][:f.ny*f.nx]
		for y := range f.ny {
			f.alongX.run(plane[y*f.nx:][:f.nx], inverse)
		}
		for x := 0; x < f.nx; x += tile {
			columns := matrix{plane[x:], f.nx}
			transpose(lines, columns, f.ny, tile)
			for i := range tile {
				f.alongY.run(f.lines[i*f.ny:][:f.ny], inverse)
			}
			transpose(columns, lines, tile, f.ny)
		}
	}
}
