package main

import (
	"testing"

	"weft/examples/mpi/porttest"
)

func Test(t *testing.T) { porttest.Run(t, balance) }
