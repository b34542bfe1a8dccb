package main

import (
	"testing"

	"weft/examples/nas/cfd"
	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, benchmark.Run, 1, 2, 4, 6, 8) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, benchmark.Run, 3, 5, 25) }

func TestWrongNormsFail(t *testing.T) {
	for _, spoil := range []func(c *cfd.Class){
		func(c *cfd.Class) { c.Residual[0] *= 1 + 1e-7 },
		func(c *cfd.Class) { c.Error[4] *= 1 + 1e-7 },
		func(c *cfd.Class) { c.Surface *= 1 + 1e-7 },
	} {
		npbtest.Refuses(t, benchmark.Run, benchmark.Classes, spoil)
	}
}
