package msg

import (
	"encoding/binary"
	"fmt"
	"slices"

	"weft/failure"
)

// A port can be saved when it is frozen and flushed at all ranks that use the channel: the ports then keep everything
// that there is of their conversations. The saved state is a string of bytes (PROTOCOL §3.6).
//
// A long message whose sender was frozen before it had been fetched has not been sent. The receiver's state does not
// have it; the sender's has its number.

// How a message is kept in the sender's buffer.
const (
	savedWhole     = 0
	savedAnnounced = 1
)

// Held counts what a saved state holds.
type Held struct {
	Sent, Received           int // messages: not acknowledged; arrived and not received
	SentBytes, ReceivedBytes int // in them
}

// Save appends the state of a port to b. The port keeps it, too.
func (p *Port) Save(b []byte) ([]byte, Held, error) {
	var h Held
	if !p.freezing.flushed {
		return b, h, fmt.Errorf("weft: channel %d cannot be saved: %w", p.channel, failure.ErrNotFrozen)
	}
	b = p.saveDepartures(b)
	b = order.AppendUint32(b, uint32(len(p.pairs)))
	for _, rank := range sortedKeys(p.pairs) {
		b = p.pairs[rank].save(b, &h)
	}
	at := len(b)
	b = order.AppendUint32(b, 0)
	for m := p.arrived.First(); m != nil; m = m.link.Next() {
		data := m.Data()
		switch {
		case m.kind == death, m.kind == announced && (m.offer.kept == nil || !m.offer.kept.settled):
			continue
		case m.kind == announced:
			data = m.offer.kept.bytes
		}
		b = order.AppendUint32(b, uint32(m.from))
		b = order.AppendUint64(b, uint64(len(data)))
		b = append(b, data...)
		h.Received++
		h.ReceivedBytes += len(data)
	}
	order.PutUint32(b[at:], uint32(h.Received))
	return b, h, nil
}

var order = binary.LittleEndian

// saveDepartures appends the ranks that have gone, as far as the program knows: it has received the news.
func (p *Port) saveDepartures(b []byte) []byte {
	heard := slices.DeleteFunc(sortedKeys(p.layer.gone), func(rank int) bool { return !p.layer.Silent(rank, p.channel) })
	for m := p.arrived.First(); m != nil; m = m.link.Next() {
		if m.kind == death {
			heard = slices.DeleteFunc(heard, func(rank int) bool { return rank == m.from })
		}
	}
	b = order.AppendUint32(b, uint32(len(heard)))
	for _, rank := range heard {
		b = order.AppendUint32(b, uint32(rank))
	}
	return b
}

// save appends what is kept for a peer.
func (d *pair) save(b []byte, h *Held) []byte {
	b = order.AppendUint32(b, uint32(d.rank))
	b = order.AppendUint32(b, d.base)
	b = order.AppendUint32(b, d.expected)
	b = order.AppendUint32(b, d.next-d.base)
	for s := d.base; s != d.next; s++ {
		e := d.entry(s)
		if e.block == nil {
			b = append(b, savedAnnounced)
			b = order.AppendUint64(b, uint64(e.offer.Total))
			b = order.AppendUint32(b, e.offer.Token)
		} else {
			b = append(b, savedWhole)
			b = order.AppendUint64(b, uint64(e.block.n))
			b = append(b, e.block.Data()...)
			h.SentBytes += e.block.n
		}
		h.Sent++
	}
	return b
}

// Restore puts a saved state in the place of what a frozen port has; no bytes are the state of a port that has just
// been opened. A state that cannot be right changes nothing. Messages that the program has on loan stay so.
func (p *Port) Restore(b []byte) (Held, error) {
	if !p.freezing.flushed {
		return Held{}, fmt.Errorf("weft: channel %d cannot be restored: %w", p.channel, failure.ErrNotFrozen)
	}
	s, err := p.readState(b)
	if err != nil {
		return Held{}, err
	}
	p.forgetAll()
	for i := range s.peers {
		p.restorePeer(&s.peers[i])
	}
	for _, m := range s.arrived {
		p.restoreArrived(m)
	}
	for _, rank := range sortedKeys(p.layer.gone) {
		if !slices.Contains(s.heard, rank) && p.layer.Silent(rank, p.channel) {
			p.deathNotice(rank, p.layer.gone[rank])
		}
	}
	return s.held, nil
}

// forgetAll makes the port what it was when it was opened. Nothing of it is on its way, so no
// packet borrows the blocks.
func (p *Port) forgetAll() {
	for m := p.arrived.First(); m != nil; m = p.arrived.First() {
		p.take(m)
		p.recv.put(m)
	}
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		p.dropPartial(d)
		p.unsend(d, p.freezing.why, p.send.put)
		*d = pair{port: p, rank: d.rank, q: d.q, entries: d.entries, credit: p.rule.room(firstCredit),
			flushes: d.flushes, spread: d.spread}
	}
	p.owed = nil
	p.promised = 0
	p.invited = nil
	p.unasked = nil
}

// restorePeer puts back what was kept for a peer.
func (p *Port) restorePeer(s *savedPeer) {
	d := p.pair(s.rank)
	d.base = s.base
	d.sent = s.base
	d.next = s.base
	d.asked = s.base
	d.urged = s.base
	d.expected = s.expected
	d.told = s.expected
	for _, m := range s.sent {
		if m.announced {
			*p.number(d, 1<<minClass) = entry{offer: &Offer{Token: m.token, Total: m.n}, after: d.q.Last()}
			continue
		}
		block := p.send.get(m.n)
		copy(block.mem, m.data)
		*p.number(d, len(block.mem)) = entry{block: block, after: d.q.Last()}
	}
	p.layer.Stats.Sent -= uint64(len(s.sent)) // they have been counted
	d.q.Counts.Sent.Messages -= uint64(len(s.sent))
	if cause := p.layer.gone[s.rank]; cause != nil {
		p.lose(d, cause)
		p.unsend(d, cause, p.send.put)
	}
}

// restoreArrived puts a message behind those that have arrived. A long one is kept as it was when it had been fetched.
func (p *Port) restoreArrived(m savedMessage) {
	var b *Block
	if m.n > MaxEager {
		b = p.recv.get(0)
		b.kind = announced
		b.offer = Offer{From: m.from, Total: m.n, kept: &kept{from: m.from, bytes: slices.Clone(m.data), settled: true}}
	} else {
		b = p.recv.get(m.n)
		copy(b.mem, m.data)
	}
	b.from = m.from
	p.queue(p.pair(m.from), b)
}
