package fault

import (
	"slices"
	"time"
)

// A Kind is a kind of Fault.
type Kind uint8

// The kinds of faults.
const (
	Crash     Kind = iota + 1 // ends ranks as a crash of their machines would
	Pause                     // stops ranks for a while
	Partition                 // cuts the ranks off from all other ranks, but not from each other
	Slow                      // delays every packet from and to the ranks
	Heal                      // ends partitions and delays of the ranks, or all if it names no ranks
)

var names = [...]string{Crash: "crash", Pause: "pause", Partition: "partition", Slow: "slow", Heal: "heal"}

// String returns the name of the kind, or nothing if there is no such kind.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return ""
}

// Operations is the moment when a rank begins its Count-th operation. The zero value is the
// beginning of the job.
type Operations struct{ Rank, Count int }

// A Fault is a fault of a job.
type Fault struct {
	Kind  Kind
	Ranks []int         // that it affects
	At    time.Duration // when it happens, after the moment After
	After Operations
	For   time.Duration // how long a Pause, Partition or Slow lasts; 0 means until a Heal
	Delay time.Duration // of each packet, during a Slow
}

// befalls reports whether a fault affects a rank.
func (f *Fault) befalls(rank int) bool {
	return len(f.Ranks) == 0 || slices.Contains(f.Ranks, rank)
}

// between calls do for all directed pairs of the n ranks of which one rank is affected by the fault
// and the other is not; for all pairs if the fault names no ranks.
func (f *Fault) between(n int, do func(from, to int)) {
	for from := range n {
		for to := range n {
			if f.befalls(from) != f.befalls(to) || len(f.Ranks) == 0 {
				do(from, to)
			}
		}
	}
}

// befall lets a fault happen.
func (f *Fault) befall(s Stage) {
	for rank := range s.Size() {
		if f.befalls(rank) {
			s.Note(rank, *f)
		}
	}
	switch f.Kind {
	case Crash:
		for _, rank := range f.Ranks {
			s.Crash(rank)
			(&Fault{Ranks: []int{rank}}).giveUp(s)
		}
	case Pause:
		for _, rank := range f.Ranks {
			s.Pause(rank, f.For)
		}
	case Slow:
		for _, rank := range f.Ranks {
			s.Slow(rank, f.Delay)
		}
	case Partition:
		f.between(s.Size(), s.Cut)
		f.giveUp(s)
	case Heal:
		f.between(s.Size(), s.Heal)
		for rank := range s.Size() {
			if f.befalls(rank) {
				s.Slow(rank, 0)
			}
		}
	}
}

// giveUp waits for the liveness time, and then tells each rank which ranks are cut off from it. So
// ranks that have never connected learn of it, too, as from a launcher.
func (f *Fault) giveUp(s Stage) {
	if s.Liveness() < 0 {
		return
	}
	s.After(s.Liveness(), func() {
		f.between(s.Size(), func(from, to int) {
			if s.IsCut(from, to) {
				s.Lose(to, from)
			}
		})
	})
}
