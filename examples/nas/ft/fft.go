package main

import (
	"math"
	"math/bits"
)

// An fft transforms lines whose length is a power of two (Cooley and Tukey, in
// place). It does not scale.
type fft struct {
	roots   []complex128 // exp(2πi k/n), k < n/2
	reverse []int        // of the bits of each place
}

func newFFT(n int) *fft {
	f := &fft{roots: make([]complex128, n/2), reverse: make([]int, n)}
	for k := range f.roots {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		f.roots[k] = complex(cos, sin)
	}
	for i := range f.reverse {
		f.reverse[i] = int(bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(n))))
	}
	return f
}

// run transforms a line, or back.
func (f *fft) run(a []complex128, inverse bool) {
	n := len(a)
	for i, j := range f.reverse {
		if i < j {
			a[i], a[j] = a[j], a[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		step := n / (2 * half)
		for k := range half {
			root := f.roots[k*step]
			if inverse {
				root = complex(real(root), -imag(root))
			}
			for i := k; i < n; i += 2 * half {
				t := root * a[i+half]
				a[i+half] = a[i] - t
				a[i] += t
			}
		}
	}
}
