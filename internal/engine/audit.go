package engine

import (
	"fmt"
	"hash/fnv"
)

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

// Fingerprint returns a hash of the node's state: everything that decides what
// it will do with the next packet or operation, but not the contents of
// messages and memory.
func (e *Engine) Fingerprint() uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, e.dropped, len(e.blocked), len(e.wanted), e.gone, e.returned, len(e.returnUntold), len(e.departures))
	for _, rank := range e.ranks() {
		p := e.peers[rank]
		fmt.Fprintln(h, rank, p.mtu, p.asked, p.throttled, p.gone != nil, p.returned, p.pulse, p.q.Len())
		if p.conn != nil {
			p.conn.Fingerprint(h)
		}
	}
	e.Msg.Fingerprint(h)
	e.RMA.Fingerprint(h)
	e.Coord.Fingerprint(h)
	return h.Sum64()
}
