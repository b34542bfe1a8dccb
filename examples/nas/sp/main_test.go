package main

import (
	"testing"

	"weft/examples/nas/cfd"
	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, benchmark.Run, 1, 4, 9) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, benchmark.Run, 2, 8, 25) }

func TestWrongNormFails(t *testing.T) {
	npbtest.Refuses(t, benchmark.Run, benchmark.Classes, func(c *cfd.Class) { c.Error[2] *= 1 + 1e-7 })
}
