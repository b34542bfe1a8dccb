package matching

import (
	"fmt"

	"weft/internal/amt"
	"weft/internal/match"
)

// A Recorded is a program of which `weft run -trace` has kept the receives that were posted and the messages that came,
// in order, at each rank.
type Recorded struct {
	Name  string
	Parts []amt.Part
}

// pattern returns what the program did as a pattern, which is the same whatever the seed.
func (r Recorded) pattern() (pattern, error) {
	p := pattern{name: r.Name}
	var traces []trace
	for i := range r.Parts {
		part := &r.Parts[i]
		if len(part.Events) == amt.MaxEvents {
			return p, fmt.Errorf("matching: %s: the trace of rank %d is full: it ends before the program did", r.Name, part.Rank)
		}
		p.ranks = max(p.ranks, part.Size)
		traces = append(traces, replay(part.Events))
	}
	p.traces = func(uint64) ([]trace, error) { return traces, nil }
	return p, nil
}

// replay returns what happened to the queues of a rank.
func replay(events []amt.Event) (t trace) {
	for _, e := range events {
		switch e.What {
		case amt.Posted:
			source := e.Peer
			if source < 0 {
				source = match.Any
			}
			t.receive(source, e.Tag, e.Mask)
		case amt.Came:
			t.arrive(e.Peer, e.Tag)
		}
	}
	return t
}
