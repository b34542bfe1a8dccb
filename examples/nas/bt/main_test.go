package main

import (
	"math"
	"testing"

	"weft/examples/nas/cfd"
	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, benchmark.Run, 1, 4, 9) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, benchmark.Run, 2, 8, 25) }

func TestWrongNormFails(t *testing.T) {
	npbtest.Refuses(t, benchmark.Run, benchmark.Classes, func(c *cfd.Class) { c.Residual[1] *= 1 + 1e-7 })
}

// The matrices are those of cfd.Gas.Couple: column j is what a change of j alone weighs.
func TestMatricesAreCouplings(t *testing.T) {
	g := cfd.Gas{Inverse: 0.4, Velocity: [3]float64{0.7, -0.2, 1.3}, Kinetic: 1.11, Energy: 3.1, Pressure: 2}
	for axis := range 3 {
		var m matrix
		m.couple(&g, axis, 2, 3, 0.75)
		for j := range m {
			var change, sum cfd.State
			change[j] = 1
			g.Couple(axis, 2, 3, 0.75, &change, &sum)
			for i := range m {
				if math.Abs(m[i][j]-sum[i]) > 1e-14 {
					t.Errorf("along %d, of %d on %d: %v, want %v", axis, j, i, m[i][j], sum[i])
				}
			}
		}
	}
}
