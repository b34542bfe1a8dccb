//go:build mutants

package driver

import (
	"fmt"
	"testing"

	"weft/internal/planted"
)

// What was wrong once, planted again, is found by the model.
func TestPlanted(t *testing.T) {
	for _, bug := range []string{
		"ArmedOverRing", "NoRest", "UsedAfterClose", "DutyForgotten", "DutyUnwatched", "CloseUnseen",
	} {
		planted.Find(t, bug, 0, 2000, func(seed uint64) error {
			s, err := random(seed)
			if err != nil {
				return fmt.Errorf("%+v: %w", s, err)
			}
			return nil
		})
	}
	planted.Fails(t, "StraightForever", "^TestStraightEnds$")
}
