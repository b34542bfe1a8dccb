//go:build mutants

package vmmc_test

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted plants the bug of a redirection that is taken by two transfers: a seed finds it.
func TestPlanted(t *testing.T) {
	planted.Find(t, "RedirectTwice", 0, 40, func(seed uint64) error { return play(t.Context(), seed) })
}
