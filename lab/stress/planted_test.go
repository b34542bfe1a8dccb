//go:build mutants

package stress_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"weft/internal/planted"
	"weft/lab/stress"
)

// caught names the kind of scene that finds each bug, and a piece of what its check says.
var caught = map[string][2]string{
	"AcceptGap":      {"memory", "are not what was written"},
	"AtomicTwice":    {"atomics", "fit no order"},
	"BulkOvertaken":  {"stream", "stuck"},
	"ForwardIgnored": {"lock", "stuck"},
	"GateEarly":      {"barrier", ""},
	"GrantTwice":     {"lock", "not alone with the lock"},
	"HalfMessage":    {"churn", "is damaged"},
	"HeadOver":       {"mailbox", ""},
	"KeptEarly":      {"memory", "are not what was written"},
	"LatePut":        {"memory", "are not what was written"},
	"LateReset":      {"barrier", "stuck"},
	"NoLastState":    {"lock", "stuck"},
	"NoParity":       {"barrier", ""},
	"PartMissing":    {"memory", ""},
	"PushEarly":      {"memory", ""},
	"StatusEarly":    {"mailbox", ""},
	"StrayByte":      {"memory", "are not what was written"},
	"TailEarly":      {"mailbox", ""},
	"WrappedFull":    {"mailbox", ""},
}

// TestPlanted plants each bug, and plays seeds of a kind of scene until the check that is meant for it finds it.
func TestPlanted(t *testing.T) {
	for _, bug := range slices.Sorted(maps.Keys(caught)) {
		planted.Find(t, bug, 0, 200, func(seed uint64) error {
			f, _ := stress.Simulate(t.Context(), stress.DrawSimulated(seed), caught[bug][0], "", nil)
			if f == nil || !strings.Contains(f.Found[0], caught[bug][1]) {
				return nil
			}
			return errors.New(f.Found[0])
		})
	}
}
