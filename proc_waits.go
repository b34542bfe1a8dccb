package weft

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
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

// state returns, as JSON, what this process waits for: for weft ps.
func (p *Proc) state() string {
	const most = 60 << 10 // bytes, of a line to the launcher
	for r := p.report(); ; {
		text, err := json.Marshal(r)
		switch {
		case err != nil:
			return ""
		case len(text) < most:
			return string(text)
		}
		if r.Counts != nil {
			r.Counts = nil
			continue
		}
		if len(r.Waits)+len(r.Objects) == 0 {
			r.Gone = nil
			r.MoreSent += len(r.Sent) - len(r.Sent)/2
			r.Sent = r.Sent[:len(r.Sent)/2]
		}
		r.More += len(r.Waits) - len(r.Waits)/2
		r.Waits = r.Waits[:len(r.Waits)/2]
		r.Objects = r.Objects[:len(r.Objects)/2]
	}
}

func (p *Proc) report() waitgraph.Report {
	r := p.node.Report()
	r.Host = p.job.Host
	r.PID = os.Getpid()
	for i := range r.Waits {
		w := &r.Waits[i]
		if name, ok := strings.CutPrefix(w.Name, mailboxName("")); ok {
			w.For = "mailbox"
			w.Name = name
		}
	}
	p.mu.Lock()
	barriers := maps.Clone(p.barriers)
	p.mu.Unlock()
	for _, s := range barriers {
		s.report(&r)
	}
	p.waits.Report("word", &r, p.Now())
	p.waits.Report("signal", &r, p.Now())
	r.Counts = p.counts()
	p.reportSent(&r)
	return r
}
