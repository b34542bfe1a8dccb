package weft

import (
	"fmt"
	"time"
)

// A Fault is something that goes wrong in a job, for tests of programs that must bear
// it: see Cluster.Faults and LocalConfig.Faults.
type Fault struct {
	Kind FaultKind

	// Ranks are those that it befalls.
	Ranks []int

	// At is when it happens: so long after the job has begun, or after After has been
	// reached if that is not zero. In a simulation it is virtual time.
	At    time.Duration
	After Operations

	// For is how long it lasts: a Pause, a Partition or a Slow. 0 means until a Heal;
	// a Pause needs it.
	For time.Duration

	// Delay is what a Slow adds to the way of each packet.
	Delay time.Duration
}

// Operations is the moment when a rank begins its Count-th operation that sends
// something or accesses remote memory: what WEFT_TRACE counts. The zero value is the
// beginning of the job.
type Operations struct{ Rank, Count int }

// A FaultKind says what goes wrong.
type FaultKind uint8

const (
	// Crash ends ranks, as the end of their machines would: nothing that they do from
	// then on reaches anybody, and the others find out when they have been silent for
	// the liveness time. In the ranks themselves every call returns ErrClosed and the
	// context of the rank's function has ended; the function must return then, and what
	// it returns does not count.
	Crash FaultKind = iota + 1

	// Pause stops ranks: what they ask of weft waits, and so does what arrives. A pause
	// longer than the liveness time is a death for the others.
	Pause

	// Partition cuts the ranks off from all others, but not from each other. They count
	// as dead to one another after the liveness time, and stay so.
	Partition

	// Slow delays every packet from and to the ranks by Delay.
	Slow

	// Heal ends partitions and delays of the ranks, or all if there are none named.
	Heal
)

var faultKinds = map[FaultKind]string{Crash: "crash", Pause: "pause", Partition: "partition", Slow: "slow", Heal: "heal"}

func (k FaultKind) String() string { return faultKinds[k] }

// checkFaults returns what is wrong with faults of a job of n ranks.
func checkFaults(faults []Fault, n int) error {
	for i := range faults {
		f := &faults[i]
		why := ""
		switch {
		case faultKinds[f.Kind] == "":
			why = "there is no such kind"
		case len(f.Ranks) == 0 && f.Kind != Heal:
			why = "it names no ranks"
		case f.At < 0 || f.For < 0 || f.Delay < 0:
			why = "a time is negative"
		case f.Kind == Pause && f.For == 0:
			why = "For must say how long"
		case f.Kind == Slow && f.Delay == 0:
			why = "Delay must say how much"
		case f.After.Count < 0:
			why = "a count of operations is negative"
		}
		if why != "" {
			return fmt.Errorf("weft: fault %d, of kind %d (%v): %s", i, f.Kind, f.Kind, why)
		}
		for _, rank := range append([]int{f.After.Rank}, f.Ranks...) {
			if rank < 0 || rank >= n {
				return fmt.Errorf("weft: fault %d, a %v: %w", i, f.Kind, &RankError{rank, n})
			}
		}
	}
	return nil
}
