//go:build mutants

package msg

import (
	"testing"

	"weft/internal/planted"
)

// TestPlanted plants a bug that shows in a port's books alone.
func TestPlanted(t *testing.T) { planted.Fails(t, "PromiseKept", "^TestRefusedInOrder$") }
