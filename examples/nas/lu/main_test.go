package main

import (
	"testing"

	"weft/examples/nas/cfd"
	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, benchmark.Run, 1, 2, 4, 6, 8) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, benchmark.Run, 3, 5, 25) }

func TestWrongNormsFail(t *testing.T) {
	good := benchmark.Classes["S"]
	defer func() { benchmark.Classes["S"] = good }()
	for _, of := range []func(c *cfd.Class) *float64{
		func(c *cfd.Class) *float64 { return &c.Residual[0] },
		func(c *cfd.Class) *float64 { return &c.Error[4] },
		func(c *cfd.Class) *float64 { return &c.Surface },
	} {
		bad := good
		*of(&bad) *= 1 + 1e-7
		benchmark.Classes["S"] = bad
		npbtest.Refuses(t, benchmark.Run)
	}
}
