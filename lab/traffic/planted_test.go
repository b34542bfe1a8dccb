//go:build mutants

package traffic

import (
	"fmt"
	"testing"

	"weft/internal/planted"
)

// TestPlanted: a window that stays small, and one that ignores losses, are found.
func TestPlanted(t *testing.T) {
	planted.Find(t, "WindowShut", 0, 1, func(uint64) error {
		if g := afterLosses(t); g <= 0.5 {
			return fmt.Errorf("a window that never grows: goodput %.2f", g)
		}
		return nil
	})
	c := tree(64, false)
	c.Wire.Queue = 8 << 10
	good, err := RunIncast(c, 16)
	if err != nil {
		t.Fatal(err)
	}
	planted.Find(t, "LossIgnored", 0, 1, func(uint64) error {
		bad, _ := RunIncast(c, 16)
		if bad.Lost >= 2*good.Lost && bad.Lost >= 0.001 {
			return fmt.Errorf("losses that nobody minds: %+v; without the bug %+v", bad, good)
		}
		return nil
	})
}
