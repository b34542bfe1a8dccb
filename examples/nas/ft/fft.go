package main

import (
	"math"
	"math/bits"
)

// An fft transforms lines whose length is a power of two (Cooley and Tukey, in
// place). It does not scale.
type fft struct {
	forth, back [][]complex128 // the roots of each stage: exp(±πi k/half), k < half = 1, 2, 4, …
	swaps       [][2]int       // places whose bits are each other's reversed
}

// newFFT returns a transform for lines of n points, a power of two, with the roots of unity for each of its steps.
func newFFT(n int) *fft {
	f := &fft{}
	for half := 1; half < n; half *= 2 {
		forth := make([]complex128, half)
		back := make([]complex128, half)
		for k := range forth {
			sin, cos := math.Sincos(math.Pi * float64(k) / float64(half))
			forth[k] = complex(cos, sin)
			back[k] = complex(cos, -sin)
		}
		f.forth = append(f.forth, forth)
		f.back = append(f.back, back)
	}
	for i := range n {
		if j := int(bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(n)))); i < j {
			f.swaps = append(f.swaps, [2]int{i, j})
		}
	}
	return f
}

// run transforms a line, or back.
func (f *fft) run(a []complex128, inverse bool) {
	for _, s := range f.swaps {
		a[s[0]], a[s[1]] = a[s[1]], a[s[0]]
	}
	stages := f.forth
	if inverse {
		stages = f.back
	}
	if len(stages)%2 == 1 {
		stage(a, stages[0])
		stages = stages[1:]
	}
	for ; len(stages) > 0; stages = stages[2:] {
		twoStages(a, stages[0], stages[1])
	}
}

// stage joins transforms of neighbouring parts of a line to one of twice the length.
func stage(a, roots []complex128) {
	half := len(roots)
	for ; len(a) >= 2*half; a = a[2*half:] {
		low := a[:half]
		high := a[half : 2*half]
		high = high[:len(roots)]
		low = low[:len(roots)]
		for k, root := range roots {
			t := root * high[k]
			low[k], high[k] = low[k]+t, low[k]-t
		}
	}
}

// twoStages does two stages in one pass over the line.
func twoStages(a, first, second []complex128) {
	n := len(first)
	low := second[:n]
	high := second[n : 2*n]
	for ; len(a) >= 4*n; a = a[4*n:] {
		p := a[:n]
		q := a[n : 2*n]
		r := a[2*n : 3*n]
		s := a[3*n : 4*n]
		p = p[:len(first)]
		q = q[:len(first)]
		r = r[:len(first)]
		s = s[:len(first)]
		low := low[:len(first)]
		high := high[:len(first)]
		for k, root := range first {
			t := root * q[k]
			u := root * s[k]
			p0 := p[k] + t
			q0 := p[k] - t
			r0 := r[k] + u
			s0 := r[k] - u
			r0 = low[k] * r0
			s0 = high[k] * s0
			p[k] = p0 + r0
			q[k] = q0 + s0
			r[k] = p0 - r0
			s[k] = q0 - s0
		}
	}
}
