package main

import (
	"testing"

	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 2, 4, 8) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, run, 3) }

func TestWrongEigenvalueFails(t *testing.T) {
	good := classes["S"]
	defer func() { classes["S"] = good }()
	bad := good
	bad.zeta *= 1 + 1e-9
	classes["S"] = bad
	npbtest.Refuses(t, run)
}
