//go:build mutants

package engine

import (
	"maps"
	"slices"
	"testing"

	"weft/internal/planted"
)

// found names the scenario that finds each bug.
var found = map[string]string{
	"AskOne":          "room_asks_all",
	"BeatUnanswered":  "beat_stopped",
	"CreditTwice":     "nack_again",
	"DeadPush":        "push_dead",
	"EpochUnchecked":  "lock_guards",
	"FenceIgnored":    "freeze_peers",
	"FenceOnce":       "lock_guards",
	"FenceOvertaken":  "freeze_races",
	"FenceUnheard":    "lock_guards_late",
	"HeldSentTwice":   "nack_holds_one_destination",
	"LastFirst":       "receive_from_one_before_full",
	"LeakOutstanding": "regions",
	"NewcomersFirst":  "nack_newcomer",
	"NoKey":           "hostile_regions",
	"NoPersistProbe":  "gobackn_stop_lost_go",
	"NoProbe":         "own_pause",
	"NoReAck":         "gobackn_lost_ack",
	"OldIncarnation":  "strangers_restart",
	"RestoredShort":   "freeze",
	"SilentAck":       "ack_rings",
	"Untold":          "permits",
}

// TestPlanted plants bugs that programs need not notice, or not soon: the packets of a scenario show each of them.
func TestPlanted(t *testing.T) {
	for _, bug := range slices.Sorted(maps.Keys(found)) {
		planted.Fails(t, bug, "^TestScenarios$/^"+found[bug]+"$")
	}
	for _, bug := range []string{"StraightUnheard", "StraightPast"} {
		planted.Find(t, bug, 0, 200, func(seed uint64) error {
			_, err := playTwins(seed)
			return err
		})
	}
}
