package weft

import (
	"errors"
	"slices"
	"sync"
	"time"
)

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

// A faultPlan makes the faults of a job happen at their times.
type faultPlan struct {
	stage stage

	mu    sync.Mutex
	began map[int]int // operations by rank
	wait  []Fault     // faults that wait for an operation
}

// startFaults starts a plan for the faults of a job.
func startFaults(faults []Fault, s stage) *faultPlan {
	p := &faultPlan{stage: s, began: map[int]int{}}
	for _, f := range faults {
		if f.After.Count > 0 {
			p.wait = append(p.wait, f)
		} else {
			s.after(f.At, func() { p.happen(f) })
		}
	}
	return p
}

// begin counts an operation of a rank, and lets those faults happen that have waited
// for it.
func (p *faultPlan) begin(rank int) (now bool) {
	p.mu.Lock()
	p.began[rank]++
	at := Operations{rank, p.began[rank]}
	var due []Fault
	p.wait = slices.DeleteFunc(p.wait, func(f Fault) bool {
		if f.After == at {
			due = append(due, f)
		}
		return f.After == at
	})
	p.mu.Unlock()
	for _, f := range due {
		if f.At > 0 {
			p.stage.after(f.At, func() { p.happen(f) })
			continue
		}
		p.happen(f)
		now = true
	}
	return now
}

// A stage is the job in which faults happen: a simulated one, or one of goroutines.
type stage interface {
	size() int
	liveness() time.Duration
	after(d time.Duration, f func())

	crash(rank int) // if it has not left
	pause(rank int, d time.Duration)
	slow(rank int, delay time.Duration)
	cut(from, to int)
	heal(from, to int)
	isCut(from, to int) bool // or has crashed
	lose(rank, from int)     // a rank counts another as dead
}

// befall lets a fault happen.
func (f *Fault) befall(s stage) {
	switch f.Kind {
	case Crash:
		for _, rank := range f.Ranks {
			s.crash(rank)
			(&Fault{Ranks: []int{rank}}).giveUp(s)
		}
	case Pause:
		for _, rank := range f.Ranks {
			s.pause(rank, f.For)
		}
	case Slow:
		for _, rank := range f.Ranks {
			s.slow(rank, f.Delay)
		}
	case Partition:
		f.between(s.size(), s.cut)
		f.giveUp(s)
	case Heal:
		f.between(s.size(), s.heal)
		for rank := range s.size() {
			if f.befalls(rank) {
				s.slow(rank, 0)
			}
		}
	}
}

// giveUp waits for the liveness time, and then tells each rank which ranks are cut off from it. So
// ranks that have never connected learn of it, too, as from a launcher.
func (f *Fault) giveUp(s stage) {
	if s.liveness() < 0 {
		return
	}
	s.after(s.liveness(), func() {
		f.between(s.size(), func(from, to int) {
			if s.isCut(from, to) {
				s.lose(to, from)
			}
		})
	})
}

// errCut is the cause of death of a rank that has been cut off.
var errCut = errors.New("it was silent for the liveness time")

func (p *faultPlan) happen(f Fault) {
	f.befall(p.stage)
	if f.For > 0 && (f.Kind == Partition || f.Kind == Slow) {
		heal := Fault{Kind: Heal, Ranks: f.Ranks}
		p.stage.after(f.For, func() { heal.befall(p.stage) })
	}
}
