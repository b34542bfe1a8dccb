package msg

import (
	"slices"

	"weft/failure"
)

// A Backlog is what one peer's port has not accepted of what was sent to it on one
// channel.
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
			if d := p.pairs[rank]; d.base != d.next {
				list = append(list, Backlog{Channel: channel, Rank: rank, Messages: int(d.next - d.base)})
			}
		}
	}
	return list
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
