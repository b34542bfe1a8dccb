//go:build mutants

package duty

import (
	"testing"

	"weft/internal/planted"
)

// What was wrong once, planted again, leaves no goroutine on duty in some world.
func TestPlanted(t *testing.T) {
	for _, bug := range []string{
		"ArmedOverRing", "NoRest", "DutyForgotten", "DutyUnwatched", "CloseUnseen", "AlarmEaten",
	} {
		planted.Find(t, bug, 0, uint64(len(searches)), func(seed uint64) error {
			_, err := searches[seed].run()
			return err
		})
	}
}
