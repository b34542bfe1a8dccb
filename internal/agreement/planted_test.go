//go:build mutants

package agreement

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted plants bugs: seeds find each.
func TestPlanted(t *testing.T) {
	for bug, falsely := range map[string]bool{
		"DecidedEarly": false, "LockForgotten": false, "OldView": false, "Unaccused": true,
	} {
		planted.Find(t, bug, 0, seeds(t), func(seed uint64) error { return play(seed, falsely) })
	}
}
