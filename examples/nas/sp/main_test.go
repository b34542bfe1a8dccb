package main

import (
	"testing"

	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, benchmark.Run, 1, 4, 9) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, benchmark.Run, 2, 8, 25) }

func TestWrongNormFails(t *testing.T) {
	good := benchmark.Classes["S"]
	defer func() { benchmark.Classes["S"] = good }()
	bad := good
	bad.Error[2] *= 1 + 1e-7
	benchmark.Classes["S"] = bad
	npbtest.Refuses(t, benchmark.Run)
}
