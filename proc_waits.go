package weft

import (
	"fmt"
	"maps"
	"strings"

	"weft/failure"
	"weft/internal/engine"
	"weft/internal/waitgraph"
)

// informed adds to the error of a wait what this rank knows of the reason for the wait.
func (p *Proc) informed(id uint64, err error) error {
	if w, ok := err.(*WaitError); ok && failure.GivenUp(err) {
		w.Knows = p.knows(id)
	}
	return err
}

// knows says what this rank knows, without asking others, of the lock or barrier with an ID.
func (p *Proc) knows(id uint64) string {
	var parts []string
	p.node.Engine(func(e *engine.Engine) {
		for _, s := range e.Coord.States() {
			if s.ID != id {
				continue
			}
			switch {
			case s.Home && len(s.Holders) > 0:
				parts = append(parts, fmt.Sprintf("ranks %v have it", s.Holders))
			case s.Home && len(s.Queue) > 0:
				parts = append(parts, fmt.Sprintf("ranks %v have asked for it", s.Queue))
			case s.What == "barrier" && s.Waits > 0:
				parts = append(parts, fmt.Sprintf("this rank has arrived at phase %d, and phase %d is over", s.Arrived, s.Done))
			}
		}
	})
	return strings.Join(parts, "; ")
}

// report adds to a report, for weft ps, what the program waits for that the node does not know, by the names that the
// program gave.
func (p *Proc) report(r *waitgraph.Report) {
	for i := range r.Waits {
		w := &r.Waits[i]
		if name, ok := strings.CutPrefix(w.Name, mailboxName("")); ok {
			w.For = "mailbox"
			w.Name = name
		}
	}
	p.open.Lock()
	barriers := maps.Clone(p.open.barriers)
	p.open.Unlock()
	for _, s := range barriers {
		s.report(r)
	}
	p.waits.Tell(r)
	p.waits.Report("word", r, p.Now())
	p.waits.Report("signal", r, p.Now())
}
