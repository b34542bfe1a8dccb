package main

import (
	"testing"

	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 3) }

func TestWrongSumFails(t *testing.T) {
	good := classes["S"]
	defer func() { classes["S"] = good }()
	bad := good
	bad.sy *= 1 + 1e-7
	classes["S"] = bad
	npbtest.Refuses(t, run)
}
