package msg

import (
	"slices"

	"weft/failure"
)

// A port may list the ranks that it takes messages from and sends messages to, as S_SEQTBL and R_SEQTBL do in
// [Miyawaki01] §5.2. (PROTOCOL §3.1)
//
//	event                                       at the receiver               at the sender
//	a message of a rank that is not a source    it counts as received, and    –
//	                                            is dropped; ACK with Barred
//	ACK with Barred                             –                             denied: sends, and Flush, fail
//	the port is opened again, with the rank     ACK without Barred            –
//	ACK without Barred                          –                             no longer denied

// permit sets what a port and a peer allow each other.
func (p *Port) permit(d *pair) {
	lacks := func(ranks []int) bool {
		return ranks != nil && d.rank != p.layer.rank && !slices.Contains(ranks, d.rank)
	}
	was := d.barred
	d.barred = lacks(p.cfg.Sources)
	d.denied = nil
	if lacks(p.cfg.Destinations) {
		d.denied = p.denial(d.rank, "PortConfig.Destinations does not list it")
	}
	if was && !d.barred {
		p.ack(d, true) // wakes a sender that only tries, and never waits
	}
}

// denial returns the error of what is not permitted with a rank.
func (p *Port) denial(rank int, why string) *failure.ChannelError {
	return &failure.ChannelError{Channel: int(p.channel), Rank: rank, Why: why}
}

// Denied returns why nothing may be sent to a rank, or nil.
func (p *Port) Denied(rank int) error {
	if d := p.known(rank); d != nil && d.denied != nil {
		return d.denied
	}
	return nil
}

// bar drops a message of a rank that is not a source, and tells the rank. The message has its number.
func (p *Port) bar(d *pair) {
	d.expected++
	p.layer.Stats.Dropped++
	if d.standing.waits() {
		p.admitted(d)
	}
	d.standing = welcome
	p.ack(d, true)
}

// onBarred takes note of whether a receiver takes messages of this rank. Messages that are kept for the receiver are
// still sent, so that both ends go on counting alike.
func (p *Port) onBarred(d *pair, barred bool) {
	if !barred {
		if d.denied != nil {
			p.permit(d)
		}
		return
	}
	if d.denied != nil {
		return
	}
	d.denied = p.denial(d.rank, "its PortConfig.Sources does not list this rank")
	d.dropped = len(d.flushes) == 0
	p.failSends(d, d.denied)
	for len(d.flushes) > 0 {
		op := d.flushes[0].op
		p.cancelFlush(op)
		p.layer.finish(op, d.denied)
	}
	p.feed()
}
