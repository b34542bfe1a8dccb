//go:build mutants

package coord

import (
	"errors"
	"testing"

	"weft/internal/planted"
)

// TestPlanted plants a bug that only a rare order of events shows: a token that was on its way while the queue was
// repaired is taken.
func TestPlanted(t *testing.T) {
	planted.Find(t, "VoidToken", 0, 1000, func(seed uint64) error {
		if wrong := runWithDeaths(t, seed); wrong != "" {
			return errors.New(wrong)
		}
		return nil
	})
}
