package fault

import (
	"fmt"

	"weft/failure"
)

// Check returns an error if a fault is not possible in a job of n ranks.
func Check(faults []Fault, n int) error {
	for i := range faults {
		f := &faults[i]
		why := ""
		switch {
		case f.Kind.String() == "":
			why = "no such kind of fault"
		case len(f.Ranks) == 0 && f.Kind != Heal:
			why = "Ranks is empty"
		case f.At < 0 || f.For < 0 || f.Delay < 0:
			why = "a time is negative"
		case f.Kind == Pause && f.For == 0:
			why = "For must be greater than 0"
		case f.Kind == Slow && f.Delay == 0:
			why = "Delay must be greater than 0"
		case f.After.Count < 0:
			why = "a count of operations is negative"
		}
		if why != "" {
			return fmt.Errorf("weft: fault %d, of kind %d (%v): %s", i, f.Kind, f.Kind, why)
		}
		for _, rank := range append([]int{f.After.Rank}, f.Ranks...) {
			if rank < 0 || rank >= n {
				return fmt.Errorf("weft: fault %d, a %v: %w", i, f.Kind, &failure.RankError{Rank: rank, Size: n})
			}
		}
	}
	return nil
}
