package main

import (
	"context"
	"fmt"
	"math"

	"weft"
	"weft/coll"
	"weft/examples/nas/npb"
)

// A field is one rank's part of a field of complex numbers: in space some planes of
// equal z, among the frequencies some of equal y.
type field struct {
	class
	g      *coll.Group
	z0, zs int // our planes in space
	y0, ys int // our planes among the frequencies

	space []complex128 // by z, y, x
	freq  []complex128 // by y, x, z
	now   []complex128 // freq on its way back
	decay []float64    // of each frequency, in a step
	out   []complex128 // what goes to other ranks, and comes from them
	in    []complex128

	alongX, alongY, alongZ *fft
}

// alpha is how fast the field decays.
const alpha = 1e-6

func newField(ctx context.Context, p *weft.Proc, c class) (*field, error) {
	n := p.Size()
	if n&(n-1) != 0 || n > min(c.ny, c.nz) {
		return nil, fmt.Errorf("the number of ranks is %d: must be a power of two up to %d", n, min(c.ny, c.nz))
	}
	g, err := coll.New(ctx, p, 100, nil)
	if err != nil {
		return nil, err
	}
	f := &field{
		class: c, g: g, zs: c.nz / n, ys: c.ny / n, alongX: newFFT(c.nx), alongY: newFFT(c.ny), alongZ: newFFT(c.nz),
	}
	f.z0, f.y0 = p.Rank()*f.zs, p.Rank()*f.ys
	size := c.nx * c.ny * f.zs
	for _, v := range []*[]complex128{&f.space, &f.freq, &f.now, &f.out, &f.in} {
		if *v, err = coll.Alloc[complex128](p, size); err != nil {
			return nil, err
		}
	}
	r := npb.NewRandom(npb.Seed, 2*uint64(c.nx*c.ny*f.z0))
	for i := range f.space {
		re := r.Next()
		f.space[i] = complex(re, r.Next())
	}
	f.decay = make([]float64, size)
	signed := func(i, n int) float64 { return float64((i+n/2)%n - n/2) }
	for i := range f.decay {
		z, x, y := i%c.nz, i/c.nz%c.nx, i/c.nz/c.nx+f.y0
		kx, ky, kz := signed(x, c.nx), signed(y, c.ny), signed(z, c.nz)
		f.decay[i] = math.Exp(-4 * alpha * math.Pi * math.Pi * (kx*kx + ky*ky + kz*kz))
	}
	return f, nil
}

// transform turns space into frequencies.
func (f *field) transform(ctx context.Context) error {
	f.planes(false)
	// Each rank gets its planes of y, with our places of z together.
	at := 0
	for y := range f.ny {
		for x := range f.nx {
			for z := range f.zs {
				f.out[at] = f.space[(z*f.ny+y)*f.nx+x]
				at++
			}
		}
	}
	if err := coll.AllToAll(ctx, f.g, f.out, f.in); err != nil {
		return err
	}
	at = 0
	for from := range f.g.Size() {
		for line := range f.ys * f.nx {
			at += copy(f.freq[line*f.nz+from*f.zs:][:f.zs], f.in[at:])
		}
	}
	for line := range f.ys * f.nx {
		f.alongZ.run(f.freq[line*f.nz:(line+1)*f.nz], false)
	}
	return nil
}

// evolve is a step in time.
func (f *field) evolve() {
	for i, d := range f.decay {
		f.freq[i] *= complex(d, 0)
	}
}

// inverse turns frequencies into space, and keeps them.
func (f *field) inverse(ctx context.Context) error {
	copy(f.now, f.freq)
	for line := range f.ys * f.nx {
		f.alongZ.run(f.now[line*f.nz:(line+1)*f.nz], true)
	}
	at := 0
	for to := range f.g.Size() {
		for line := range f.ys * f.nx {
			at += copy(f.out[at:], f.now[line*f.nz+to*f.zs:][:f.zs])
		}
	}
	if err := coll.AllToAll(ctx, f.g, f.out, f.in); err != nil {
		return err
	}
	at = 0
	for y := range f.ny {
		for x := range f.nx {
			for z := range f.zs {
				f.space[(z*f.ny+y)*f.nx+x] = f.in[at]
				at++
			}
		}
	}
	f.planes(true)
	return nil
}

// planes transforms our planes of equal z in both directions.
func (f *field) planes(inverse bool) {
	line := make([]complex128, f.ny)
	for z := range f.zs {
		plane := f.space[z*f.ny*f.nx : (z+1)*f.ny*f.nx]
		for y := range f.ny {
			f.alongX.run(plane[y*f.nx:(y+1)*f.nx], inverse)
		}
		for x := range f.nx {
			for y := range line {
				line[y] = plane[y*f.nx+x]
			}
			f.alongY.run(line, inverse)
			for y, v := range line {
				plane[y*f.nx+x] = v
			}
		}
	}
}
