//go:build mutants

package swarm

import (
	"maps"
	"slices"
	"testing"
	"time"

	"weft/internal/planted"
)

// caught names the checker that must find each bug, if others do not find it
// before.
var caught = map[string]string{
	"NoReAck":         "stuck",
	"NoPersistProbe":  "stuck",
	"OldIncarnation":  "stuck",
	"AcceptGap":       "stuck",
	"HeldSentTwice":   "stuck",
	"HalfMessage":     "delivery",
	"CreditTwice":     "occupancy",
	"PushEarly":       "completion",
	"StrayByte":       "memory",
	"LatePut":         "order",
	"AtomicTwice":     "atomicity",
	"LeakOutstanding": "leak",
	"NoKey":           "refusal",
	"NoProbe":         "false death",
	"KeptEarly":       "stuck",
	"NoLastState":     "stuck",
	"ForwardIgnored":  "stuck",
	"LateReset":       "stuck",
	"NoParity":        "refusal",
	"EpochUnchecked":  "fencing",
	"GateEarly":       "barrier",
	"GrantTwice":      "exclusion",
	"Untold":          "told",
	"TailEarly":       "leak",
	"StatusEarly":     "mailbox",
	"WrappedFull":     "mailbox",
	"HeadOver":        "mailbox",
	"SilentAck":       "silence",
	"AskOne":          "stuck",
	"PromiseKept":     "room",
	"DeadPush":        "completion",
	"FenceOvertaken":  "flush",
	"FenceIgnored":    "flush",
	"RestoredShort":   "stuck",
	"FenceOnce":       "stuck",
	"FenceUnheard":    "fencing",
	"BeatUnanswered":  "false death",
	"NewcomersFirst":  "fairness",
	"LastFirst":       "fairness",
	"BulkOvertaken":   "order",
	"PartMissing":     "delivery",
}

// first is the seed that is run first for bugs that few seeds find. After a change of the engine later seeds may find them,
// or earlier ones.
var first = map[string]uint64{"AskOne": 200, "BeatUnanswered": 200, "StatusEarly": 100, "TailEarly": 150, "Untold": 170}

// TestPlanted plants each bug, and runs seeds until the checker that is meant for it finds it. Each
// checker must find one.
func TestPlanted(t *testing.T) {
	idle := map[string]bool{}
	for _, kind := range Kinds {
		idle[kind] = kind != "panic"
	}
	for _, bug := range slices.Sorted(maps.Keys(caught)) {
		planted.Find(t, bug, first[bug], 2000, func(seed uint64) error {
			v := Run(FromSeed(seed), nil).Violation
			if v == nil {
				return nil
			}
			idle[v.Kind] = false
			if v.Kind != caught[bug] {
				return nil
			}
			return v
		})
	}
	for kind, not := range idle {
		if not {
			t.Errorf("the checker of %q has found nothing: can it fail?", kind)
		}
	}
}

// TestPlantedShrinks shrinks a run with a planted bug: what is left is smaller, and fails
// in the same way.
func TestPlantedShrinks(t *testing.T) {
	planted.Find(t, "StrayByte", 0, 1, func(seed uint64) error {
		o := FromSeed(seed)
		v := Run(o, nil).Violation
		small := Shrink(o, v.Kind, 10*time.Second)
		if small.Nodes != 2 || small.Ops > 20 || small.Crashes+small.Pauses+small.Partitions > 0 || small.Loss > 0 {
			t.Errorf("it is still as large as this:\n%v", small)
		}
		again := FromSeed(small.Seed)
		if err := again.Set(small.Changes(again)); err != nil || again != small {
			t.Errorf("-set %s gives %+v, %v", small.Changes(FromSeed(small.Seed)), again, err)
		}
		w := Run(again, nil).Violation
		if w == nil || w.Kind != v.Kind {
			return nil
		}
		return w
	})
}
