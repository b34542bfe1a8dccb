package msg

import (
	"slices"

	"weft/failure"
	"weft/internal/engine/wire"
)

// Down tells the layer that a peer has gone, and why. What arrived from it can
// still be received; everything else that needs it ends with its PeerError.
// A clean leave does not end a receive from any rank, unless no rank is left that could send
// to it. This rank counts if it has sent to itself before.
func (l *Layer) Down(rank int, cause *failure.PeerError) {
	coming, ok := l.part(rank)
	if !ok {
		return
	}
	delete(l.ending, rank)
	l.gone[rank] = cause
	for _, op := range takeAll(&l.fetching, func(op *Op) bool { return op.Offer.From == rank }) {
		l.finish(op, cause)
	}
	l.keeping = slices.DeleteFunc(l.keeping, func(k *kept) bool { return k.from == rank })
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		if d := p.pairs[rank]; d != nil {
			p.abandon(d, cause)
			p.bereave(d, cause)
		} else {
			p.failReceives(rank, cause)
		}
		if p.open && coming.on(channel) {
			p.deathNotice(rank, cause)
		}
	}
}

// part counts a peer among the peers that have gone, once. It returns the channels on which messages of the peer still
// came until now, and false if there were none.
func (l *Layer) part(rank int) (coming *Coming, ok bool) {
	if l.gone[rank] != nil {
		return l.ending[rank], l.ending[rank] != nil
	}
	l.others--
	return &Coming{On: true}, true
}

// A Coming says on which channels messages of a peer still come whose program has ended. With On, others may follow
// behind the last of them.
type Coming struct {
	On       bool
	Channels []uint16 // in order
}

// on reports whether messages still come on a channel.
func (c *Coming) on(channel uint16) bool {
	if c == nil {
		return false
	}
	_, found := slices.BinarySearch(c.Channels, channel)
	return found || c.On && c.isBehind(channel)
}

// isBehind reports whether a channel is behind the last one that is known.
func (c *Coming) isBehind(channel uint16) bool {
	n := len(c.Channels)
	return n == 0 || channel > c.Channels[n-1]
}

// next returns what still comes once the peer has told more of its channels, or less.
func (c *Coming) next(told Coming, less bool) *Coming {
	all := Coming{On: c.On, Channels: slices.Clone(c.Channels)}
	switch {
	case less:
		all.Channels = slices.DeleteFunc(all.Channels, func(channel uint16) bool {
			_, found := slices.BinarySearch(told.Channels, channel)
			return found
		})
	case c.On:
		all.On = told.On
		for _, channel := range told.Channels {
			if all.isBehind(channel) {
				all.Channels = append(all.Channels, channel)
			}
		}
	}
	return &all
}

// Ending says that the program of a peer has ended, and that messages which it had sent before still come on some
// channels, and on no other. It ends what needs the peer besides: sends to it, and what waits for it on other channels.
// With On in told, Ending follows again with further channels; and each time that there are fewer with these, and less.
// In the end follows Down. (PROTOCOL §5)
func (l *Layer) Ending(rank int, cause *failure.PeerError, told Coming, less bool) {
	coming, ok := l.part(rank)
	if !ok {
		return
	}
	open := coming.next(told, less)
	l.gone[rank] = cause
	l.ending[rank] = open
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		if d := p.pairs[rank]; d != nil {
			p.failSends(d, cause)
			p.lose(d, cause)
			p.unsend(d, cause, p.send.put)
			p.feed()
		}
		if !open.on(channel) {
			p.failReceives(rank, cause)
			if p.open && coming.on(channel) {
				p.deathNotice(rank, cause)
			}
		}
	}
}

// Silent reports whether nothing of a peer comes on a channel any more: all that came has arrived at the port.
func (l *Layer) Silent(rank int, channel uint16) bool {
	return l.gone[rank] != nil && !l.ending[rank].on(channel)
}

// isAlone reports whether no other rank is left of which a message may come.
func (p *Port) isAlone() bool {
	for _, coming := range p.layer.ending {
		if coming.on(p.channel) {
			return false
		}
	}
	return p.layer.others == 0 && p.pairs[p.layer.rank] == nil
}

// isSilent returns why no message of a peer comes on the channel any more, or nil.
func (p *Port) isSilent(rank int) error {
	if p.layer.ending[rank].on(p.channel) {
		return nil
	}
	return p.layer.gone[rank]
}

// Gone returns why a peer takes no messages, or nil.
func (l *Layer) Gone(rank int) error { return l.gone[rank] }

// abandon ends everything between a port and a peer that has gone.
func (p *Port) abandon(d *pair, cause error) {
	p.failSends(d, cause)
	p.lose(d, cause)
	p.unsend(d, cause, p.send.put)
	p.dropPartial(d)
	p.admitted(d)
	p.dropAnnounced(d)
	p.narrow(d)
	p.failReceives(d.rank, cause)
	p.serveOwed()
	p.feed()
}

// unsend forgets what a peer has not acknowledged, and gives the blocks back.
func (p *Port) unsend(d *pair, cause error, give func(*Block)) {
	p.unacked -= int(d.next - d.base)
	for ; d.base != d.next; d.base++ {
		if b := d.entry(d.base).block; b != nil {
			give(b)
		}
		*d.entry(d.base) = entry{}
	}
	d.sent = d.next
	d.asked = d.next
	d.urged = d.next
	d.queued = 0
	d.inFlight = 0
	d.becomeFlowing()
	for len(d.flushes) > 0 {
		op := d.flushes[0].op
		p.cancelFlush(op)
		p.layer.finish(op, cause)
	}
}

// failReceives ends the receives from a peer, which may never have sent anything.
func (p *Port) failReceives(rank int, cause error) {
	for _, op := range takeAll(&p.posted, func(op *Op) bool { return op.Peer == rank }) {
		p.layer.finish(op, cause)
	}
}

// dropAnnounced forgets the long messages that a peer has announced, unless we
// have their bytes.
func (p *Port) dropAnnounced(d *pair) {
	p.filter(d, func(b *Block) bool {
		return b.kind == announced && (b.offer.kept == nil || !b.offer.kept.settled)
	})
}

// filter forgets the messages of a pair for which drop reports true.
func (p *Port) filter(d *pair, drop func(*Block) bool) {
	d.arrived.Take(drop, func(b *Block) {
		p.arrived.Remove(&b.link)
		p.Release(b)
	})
}

// Leave acknowledges what has been accepted, so that no sender is left in doubt.
func (l *Layer) Leave() {
	for _, channel := range sortedKeys(l.rests) {
		if slices.ContainsFunc(l.rests[channel].pairs, func(n numbers) bool { return n.told != n.expected }) {
			l.find(channel)
		}
	}
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		for _, rank := range sortedKeys(p.pairs) {
			if d := p.pairs[rank]; d.told != d.expected && l.gone[rank] == nil {
				p.ack(d, false)
			}
		}
	}
}

// Undrained appends to dst the channels on which a peer has not accepted everything that was sent to it, in order. Soon
// says that an answer is on its way: the peer has not refused a message on one of them.
func (l *Layer) Undrained(rank int, dst []uint16) (open []uint16, soon bool) {
	for channel, p := range l.ports {
		if d := p.pairs[rank]; d != nil && (d.base != d.next || !d.waiting.Empty()) {
			dst = append(dst, channel)
			soon = soon || d.flow == flowing && d.base != d.next
		}
	}
	for op := l.sends.First(); op != nil; op = op.link.Next() {
		if op.Peer == rank {
			dst = append(dst, op.port.channel)
		}
	}
	slices.Sort(dst)
	return slices.Compact(dst), soon
}

// failSends ends the sends to a peer that have not been done.
func (p *Port) failSends(d *pair, cause error) {
	for !d.waiting.Empty() {
		p.layer.finish(d.waiting.Pop(), cause)
	}
	for _, op := range takeAll(&p.layer.sends, func(op *Op) bool { return op.port == p && op.Peer == d.rank }) {
		p.layer.withhold(op, wire.StatusCancelled)
		p.layer.finish(op, cause)
	}
}

// deathNotice puts the news of a death where a receive from anyone finds it,
// behind all messages that arrived before.
func (p *Port) deathNotice(rank int, cause error) {
	if pe, ok := cause.(*failure.PeerError); ok && pe.Clean && !p.isAlone() {
		return
	}
	b := p.recv.get(0) // beyond the limit if need be
	b.from = rank
	b.kind = death
	b.err = cause
	d := p.pair(rank)
	for op := p.posted.First(); op != nil; op = op.link.Next() {
		if op.Peer == Any {
			p.posted.Remove(&op.link)
			p.queue(d, b)
			p.offer(op, b)
			p.layer.done.Push(&op.link, op)
			return
		}
	}
	p.queue(d, b)
	p.summonAll()
	p.arrival()
}
