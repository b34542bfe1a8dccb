package npb

import "fmt"

// A RanksError reports a number of ranks among which a problem cannot be divided.
type RanksError struct {
	Ranks int
	Must  string // what the number must be
}

func (e *RanksError) Error() string {
	return fmt.Sprintf("the number of ranks is %d: must be %s", e.Ranks, e.Must)
}
