package msg

import (
	"slices"

	"weft/failure"
)

// A Backlog is what one peer's port has not accepted of what was sent to it on one
// channel: messages of which the program's call has returned.
type Backlog struct {
	Channel  uint16
	Rank     int
	Messages int
	Left     bool // and will not any more: the peer has left in good order
}

// Drain asks all peers to acknowledge what was sent to them, and from now on with
// every message: this process will leave.
func (l *Layer) Drain() {
	l.draining = true
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		for _, rank := range sortedKeys(p.pairs) {
			p.ask(p.pairs[rank], true)
		}
	}
}

// Backlog returns what has not been accepted, whether or not the channel has been
// closed here. What was meant for ranks that have died does not count.
func (l *Layer) Backlog() []Backlog {
	list := slices.Clone(l.lost)
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		for _, rank := range sortedKeys(p.pairs) {
			if n := p.pairs[rank].unaccepted(); n > 0 {
				list = append(list, Backlog{Channel: channel, Rank: rank, Messages: n})
			}
		}
	}
	return list
}

// unaccepted returns how many messages the peer has not accepted. A send for which no goroutine waits counts until it
// has ended: the peer may have accepted the announcement of a long message, and has not fetched it.
func (d *pair) unaccepted() int {
	n := int(d.next - d.base)
	for op := d.waiting.First(); op != nil; op = op.link.Next() {
		if op.Alone {
			n++
		}
	}
	for op := d.port.layer.sends.First(); op != nil; op = op.link.Next() {
		if op.Alone && op.port == d.port && op.Peer == d.rank && less(op.Seq, d.base) {
			n++
		}
	}
	return n
}

// lose notes what a peer had not accepted when it left. The death of a peer is told
// by its PeerError.
func (p *Port) lose(d *pair, cause error) {
	if p.cfg.Service {
		return
	}
	if pe, ok := cause.(*failure.PeerError); ok && pe.Clean && d.base != d.next {
		p.layer.lost = append(p.layer.lost,
			Backlog{Channel: p.channel, Rank: d.rank, Messages: int(d.next - d.base), Left: true})
	}
}
