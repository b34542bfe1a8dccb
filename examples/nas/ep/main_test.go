package main

import (
	"testing"

	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 3) }

func TestWrongSumFails(t *testing.T) {
	npbtest.Refuses(t, run, classes, func(c *class) { c.sy *= 1 + 1e-7 })
}
