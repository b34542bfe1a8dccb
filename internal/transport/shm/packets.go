package shm

import (
	"math"

	"weft/internal/mem"
	"weft/internal/ring"
	"weft/internal/transport"
)

// PeerMTU returns the MTU: it is the same for all.
func (t *Transport) PeerMTU(peer int) int { return ring.MaxPacket }

// Send copies packets into the rings of their peers.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := range pkts {
		o := &pkts[i]
		p := t.out.Sending(o.Peer)
		if p == nil || !p.Push(o.Header, o.Payload, o.Urgent) {
			return i
		}
	}
	return len(pkts)
}

// Lane returns the peer: packets are copied into its segment one by one.
func (t *Transport) Lane(rank int) transport.Lane {
	if p := t.out.Get(rank); p != nil {
		return p
	}
	return nil
}

// Push copies a packet into the ring that this process has at the peer, or
// into the inbox.
func (p *peer) Push(header, payload []byte, urgent bool) bool {
	if p.own == nil && (p.sent-p.tried < p.after || !p.promote()) {
		if !p.sender.Push(header, payload) {
			return false
		}
		p.sent++
	} else if !p.own.Push(header, payload) {
		return false
	}
	p.bell.Wake(urgent)
	return true
}

// Attend shows peers whether this process polls.
func (t *Transport) Attend(polls bool) {
	v := uint64(0)
	if polls {
		v = 1
	}
	mem.Publish(t.seg.attends(), v)
}

// Attends reports whether a peer polls.
func (t *Transport) Attends(rank int) bool {
	p := t.out.Get(rank)
	return p != nil && p.seg.attends().Load() != 0
}

// promoteAfter returns how many packets a peer is sent before a ring there is
// claimed.
func (t *Transport) promoteAfter(rank int) int {
	switch {
	case t.cfg.Own == nil:
		return t.cfg.Promote
	case t.cfg.Own(rank):
		return 0
	default:
		return math.MaxInt
	}
}

// promote moves a frequent sender to a ring of its own, which it claims now.
// It reports whether the ring may be used: not before everything in the inbox
// has been taken.
func (p *peer) promote() bool {
	if p.ring < 0 {
		me := uint64(p.t.cfg.Rank) + 1
		for i := range rings {
			if p.seg.owner(i).CompareAndSwap(0, me) {
				p.ring = i
				break
			}
		}
		if p.ring < 0 {
			p.tried = p.sent
			p.after = p.t.cfg.Promote // all taken: try again much later
			return false
		}
	}
	if !p.sender.Drained() {
		return false
	}
	p.own = ring.NewProducer(p.seg.ring(p.ring))
	p.seg.claims().Add(1)
	return true
}

// Pending reports whether a packet has arrived.
func (t *Transport) Pending() bool {
	for _, in := range *t.listed.Load() {
		if in.c.Ready() {
			return true
		}
	}
	return t.inbox.Ready() || t.seg.claims().Load() != t.claims
}

// mostLent is how many bytes Poll lends of one peer before their memory is given back: while the rest of a long message
// is copied from the ring, its sender copies what follows.
const mostLent = ring.MaxPacket

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	if n := t.seg.claims().Load(); n != t.claims {
		t.claims = n
		t.reclaim()
		t.findRings()
	}
	n := 0
	at := t.first
	for range t.active {
		if at++; at >= len(t.active) {
			at = 0
		}
		in := t.active[at]
		for n < len(dst) && in.bytes < mostLent {
			pkt, ok := in.c.Peek(in.lent)
			if !ok {
				break
			}
			dst[n] = transport.In{From: in.rank, Data: pkt}
			in.lent++
			in.bytes += len(pkt)
			n++
		}
		if n == len(dst) {
			t.first = at // the next one has its turn
			return n
		}
	}
	if t.inbox.Idle() {
		return n
	}
	for n < len(dst) {
		from, pkt, ok := t.inbox.Peek(t.lent)
		if !ok {
			break
		}
		dst[n] = transport.In{From: from, Data: pkt}
		t.lent++
		n++
	}
	return n
}

// Peek lends the first packet of a peer that has a ring of its own.
func (t *Transport) Peek(peer int) (from int, pkt []byte, maybe bool) {
	at := t.first
	for range t.active {
		if at++; at >= len(t.active) {
			at = 0
		}
		in := t.active[at]
		if peer >= 0 && in.rank != peer {
			continue
		}
		if pkt, ok := in.c.Peek(0); ok {
			t.first = at
			t.seen = len(pkt)
			return in.rank, pkt, false
		}
		if peer >= 0 {
			return 0, nil, false
		}
	}
	return 0, nil, peer >= 0 || !t.inbox.Idle() || t.seg.claims().Load() != t.claims
}

// Took takes the packet that Peek has lent. The next look begins behind its ring.
func (t *Transport) Took() { t.active[t.first].c.Take(1, t.seen) }

// findRings looks for rings that have been claimed.
func (t *Transport) findRings() {
	have := map[int]bool{}
	for _, in := range t.active {
		have[in.index] = true
	}
	for i := range rings {
		owner := t.seg.owner(i).Load()
		if owner == 0 || have[i] || owner > uint64(t.cfg.Size) {
			continue
		}
		t.active = append(t.active, &incoming{rank: int(owner) - 1, index: i, c: ring.NewConsumer(t.seg.ring(i))})
	}
	t.list()
}

// list lets Pending see the active rings.
func (t *Transport) list() {
	active := append([]*incoming(nil), t.active...)
	t.listed.Store(&active)
}

// Release ends the loan of the last Poll.
func (t *Transport) Release() {
	for _, in := range t.active {
		if in.lent > 0 {
			in.c.Take(in.lent, in.bytes)
			in.lent = 0
			in.bytes = 0
		}
	}
	if t.lent > 0 {
		t.inbox.Take(t.lent)
		t.lent = 0
	}
}

// reclaim frees the rings of processes that have ended, once they are empty.
// The ring of a process that is only silent stays taken: the process may go on and write.
func (t *Transport) reclaim() {
	keep := t.active[:0]
	for _, in := range t.active {
		p := t.out.Get(in.rank)
		if p != nil && p.exited.Load() && !in.c.Ready() {
			in.c.Publish()
			t.seg.owner(in.index).Store(0)
			continue
		}
		keep = append(keep, in)
	}
	t.active = keep
	t.list()
}
