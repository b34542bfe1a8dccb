//go:build mutants

package fm_test

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted: the seeds find a credit that is given back twice.
func TestPlanted(t *testing.T) { planted.Find(t, "PacketTwice", 0, 100, runSeed) }
