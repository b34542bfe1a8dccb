// Package npb holds what the NAS Parallel Benchmarks here have in common: the
// random numbers and the report.
package npb

// The random numbers of NPB: x(k+1) = 5^13 x(k) mod 2^46, divided by 2^46.
const (
	Multiplier = 1220703125
	Seed       = 314159265
	mask46     = 1<<46 - 1
)

// A Random is a position in the sequence.
type Random uint64

// NewRandom returns the position n numbers after the seed.
func NewRandom(seed uint64, n uint64) Random {
	x := seed
	a := uint64(Multiplier)
	for ; n > 0; n >>= 1 { // x * a^n by squaring
		if n&1 == 1 {
			x = x * a & mask46
		}
		a = a * a & mask46
	}
	return Random(x)
}

// Next returns the next number, above 0 and below 1.
func (r *Random) Next() float64 {
	*r = *r * Multiplier & mask46 // the product's low 64 bits hold its low 46
	return float64(*r) * (1.0 / (1 << 46))
}
