package weft

import (
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

func (k FaultKind) String() string { return fault.Kind(k).String() }

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
