package main

import (
	"testing"

	"weft/examples/nas/npb/npbtest"
)

// With 64 ranks some drop out of the coarsest grid.
func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 2, 4, 8, 64) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, run, 3) }

func TestWrongNormFails(t *testing.T) {
	npbtest.Refuses(t, run, classes, func(c *class) { c.norm *= 1 + 1e-7 })
}
