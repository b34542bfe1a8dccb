//go:build mutants

package mpi

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted plants bugs in the agreement: seeds of whole programs find them, too. (An outcast that is not told finds
// out by silence in the end, so Unaccused is for package agreement.)
func TestPlanted(t *testing.T) {
	for _, bug := range []string{"DecidedEarly", "LockForgotten", "OldView"} {
		planted.Find(t, bug, 0, 500, func(seed uint64) error { return surviving(t.Context(), seed) })
	}
}
