package main

import (
	"slices"
	"testing"

	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 2, 4, 8) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, run, 3) }

func TestWrongChecksumFails(t *testing.T) {
	npbtest.Refuses(t, run, classes, func(c *class) {
		c.checksums = slices.Clone(c.checksums)
		c.checksums[5] *= 1 + 1e-11
	})
}
