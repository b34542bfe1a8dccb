//go:build mutants

package am_test

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted: the seeds find a credit that is given back twice.
func TestPlanted(t *testing.T) { planted.Find(t, "AnsweredTwice", 0, 100, runSeed) }
