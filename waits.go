package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weft/internal/engine"
)

// givenUp reports whether an error is that of a context that has ended.
func givenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// knows says what this rank knows of what is called id, without asking others.
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
