package weft

import (
	"fmt"
	"time"

	"weft/internal/fault"
)

// A Fault is a fault that is injected into a job, for tests of programs that must tolerate it: see
// Cluster.Faults.
type Fault struct {
	Kind FaultKind

	// Ranks are the ranks that it affects.
	Ranks []int

	// At is when it happens: this long after the job has begun, or after the moment After if
	// that is not zero. In a simulation it is virtual time.
	At    time.Duration
	After Operations

	// For is how long a Pause, Partition or Slow lasts. 0 means until a Heal; a Pause must have
	// a duration.
	For time.Duration

	// Delay is how much longer each packet takes during a Slow.
	Delay time.Duration
}

// Operations is the moment when a rank begins its Count-th operation that sends something or
// accesses remote memory (the operations that WEFT_TRACE counts). The zero value is the
// beginning of the job.
type Operations struct{ Rank, Count int }

// A FaultKind is a kind of Fault.
type FaultKind uint8

const (
	// Crash ends ranks as a crash of their machines would: nothing that they do from then on
	// reaches other ranks, which notice the crash after the liveness time. In a crashed rank
	// every call returns ErrClosed, and the context of its function ends. The function must
	// return then; its result is ignored.
	Crash = FaultKind(fault.Crash)

	// Pause stops ranks: their calls of weft wait, and packets that arrive are not processed. To
	// other ranks a pause that is longer than the liveness time is a death.
	Pause = FaultKind(fault.Pause)

	// Partition cuts the ranks off from all other ranks, but not from each other. After the
	// liveness time the two sides count as dead to one another, for good.
	Partition = FaultKind(fault.Partition)

	// Slow delays every packet from and to the ranks by Delay.
	Slow = FaultKind(fault.Slow)

	// Heal ends partitions and delays of the ranks, or all of them if it names no ranks.
	Heal = FaultKind(fault.Heal)
)

var faultKinds = map[FaultKind]string{Crash: "crash", Pause: "pause", Partition: "partition", Slow: "slow",
	Heal: "heal"}

func (k FaultKind) String() string { return faultKinds[k] }

// faultsOf returns faults as package fault takes them.
func faultsOf(faults []Fault) []fault.Fault {
	all := make([]fault.Fault, len(faults))
	for i, f := range faults {
		all[i] = fault.Fault{
			Kind: fault.Kind(f.Kind), Ranks: f.Ranks, At: f.At, After: fault.Operations(f.After), For: f.For, Delay: f.Delay,
		}
	}
	return all
}

// checkFaults returns an error if a fault is not possible in a job of n ranks.
func checkFaults(faults []Fault, n int) error {
	for i := range faults {
		f := &faults[i]
		why := ""
		switch {
		case faultKinds[f.Kind] == "":
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
				return fmt.Errorf("weft: fault %d, a %v: %w", i, f.Kind, &RankError{Rank: rank, Size: n})
			}
		}
	}
	return nil
}
