package fault

import (
	"slices"
	"sync"
)

// A Plan makes the faults of a job happen at their times. Any goroutine may call its methods.
type Plan struct {
	stage Stage

	mu    sync.Mutex
	began map[int]int // operations by rank
	wait  []Fault     // faults that wait for an operation
}

// Start starts a plan for the faults of a job.
func Start(faults []Fault, s Stage) *Plan {
	p := &Plan{stage: s, began: map[int]int{}}
	for _, f := range faults {
		if f.After.Count > 0 {
			p.wait = append(p.wait, f)
		} else {
			s.After(f.At, func() { p.happen(f) })
		}
	}
	return p
}

// Begin counts an operation of a rank, and lets those faults happen that have waited
// for it. It reports whether one has happened.
func (p *Plan) Begin(rank int) (now bool) {
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
			p.stage.After(f.At, func() { p.happen(f) })
			continue
		}
		p.happen(f)
		now = true
	}
	return now
}

func (p *Plan) happen(f Fault) {
	f.befall(p.stage)
	if f.For > 0 && (f.Kind == Partition || f.Kind == Slow) {
		heal := Fault{Kind: Heal, Ranks: f.Ranks}
		p.stage.After(f.For, func() { heal.befall(p.stage) })
	}
}
