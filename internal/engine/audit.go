package engine

import "fmt"

// Unfinished says what the node still has to do or waits for, a line each. When
// every rank has received what was sent to it and every operation has ended,
// nothing is left: what is, is stuck or leaked.
func (e *Engine) Unfinished() (lines []string) {
	lines = append(e.Msg.Unfinished(), e.RMA.Unfinished()...)
	lines = append(lines, e.Coord.Unfinished()...)
	for _, rank := range e.ranks() {
		p := e.peers[rank]
		if p.conn != nil && p.gone == nil {
			if s := p.conn.Unfinished(); s != "" {
				lines = append(lines, fmt.Sprintf("link to rank %d: %s", rank, s))
			}
		}
		if p.q.Len() > 0 && p.gone == nil {
			lines = append(lines, fmt.Sprintf("%d frames wait to be sent to rank %d", p.q.Len(), rank))
		}
	}
	return lines
}
