package fabric

import (
	"weft/fabric/internal/ofi"
	"weft/internal/transport"
)

// sending is the slots of messages under way that the provider does not keep.
type sending struct {
	first int   // slot
	free  []int // slots
	to    [sends]*peer
	brief int // the slot of messages that the provider keeps
}

func (s *sending) open(all *slots) {
	s.first = all.receives
	s.brief = all.receives + sends
	s.free = make([]int, sends)
	for i := range s.free {
		s.free[i] = s.first + i
	}
}

// release takes a slot back, and returns the peer that its message has gone to.
func (s *sending) release(i int) *peer {
	p := s.to[i-s.first]
	s.to[i-s.first] = nil
	s.free = append(s.free, i)
	return p
}

// busy reports whether messages are under way.
func (s *sending) busy() bool { return len(s.free) < sends }

// Send sends packets in order.
func (t *Transport) Send(pkts []transport.Out) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0
	}
	for i := range pkts {
		if o := &pkts[i]; !t.send(t.peers.Sending(o.Peer), o.Header, o.Payload) {
			return i
		}
	}
	t.duty.sent(t)
	return len(pkts)
}

// Lane returns a peer that is known.
func (t *Transport) Lane(rank int) transport.Lane {
	if p := t.peers.Get(rank); p != nil {
		return p
	}
	return nil
}

// Push sends a packet.
func (p *peer) Push(header, payload []byte, urgent bool) bool {
	t := p.t
	t.mu.Lock()
	ok := !t.closed && t.send(p, header, payload)
	if ok {
		t.duty.sent(t)
	}
	t.mu.Unlock()
	return ok
}

// send sends a packet, or reports that there is no room for it. What goes to a peer that is gone is taken, and lost as
// its receiver is.
func (t *Transport) send(p *peer, header, payload []byte) bool {
	switch {
	case p == nil || p.state == meeting:
		return false
	case p.state == gone:
		return true
	}
	if p.sent-p.acknowledged >= t.in.window && !t.opens(p) {
		return false
	}
	size := t.slots.head + len(header) + len(payload)
	i := t.slot(size)
	if i < 0 {
		return false
	}
	m := t.slots.message(i, size)
	at := m[t.slots.head:]
	copy(at[copy(at, header):], payload)
	if !t.give(p, i, m, packet) {
		return false
	}
	p.sent++
	t.taken()
	return true
}

// opens looks whether a peer has made room for more packets. A look may only move what has come one step on, so it
// looks a few times.
func (t *Transport) opens(p *peer) bool {
	const looks = 4
	for range looks {
		if t.harvest(1); p.sent-p.acknowledged < t.in.window {
			return true
		}
	}
	return false
}

// slot returns a slot for a message of so many bytes, or -1 if there is none.
func (t *Transport) slot(size int) int {
	s := &t.sending
	if size <= t.end.Inject {
		return s.brief
	}
	if len(s.free) == 0 {
		if t.harvest(1); len(s.free) == 0 {
			return -1
		}
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return i
}

// give gives the message in a slot to libfabric, with its head, and reports whether it has taken it, or has found the
// peer unreachable.
func (t *Transport) give(p *peer, i int, m []byte, kind uint32) bool {
	t.slots.put(m, head{token: p.ours, number: p.sent, consumed: p.consumed, kind: kind})
	err := t.offer(p, i, m)
	if err == ofi.ErrBusy { // it may have room when it has gone on
		t.harvest(1)
		err = t.offer(p, i, m)
	}
	switch {
	case err == nil:
		p.told = p.consumed
		return true
	case i != t.sending.brief:
		t.sending.release(i)
	}
	if err != ofi.ErrBusy {
		t.broken(p, err)
	}
	return err != ofi.ErrBusy
}

// offer offers a message to libfabric once.
func (t *Transport) offer(p *peer, i int, m []byte) error {
	if i == t.sending.brief {
		return t.end.SendNow(p.to, m, p.ours)
	}
	t.sending.to[i-t.sending.first] = p
	return t.end.Send(p.to, m, p.ours, t.slots.registered, t.slots.context(i))
}

// tell sends a message without a packet, and reports whether there was room for it.
func (t *Transport) tell(p *peer, kind uint32) bool {
	i := t.slot(t.slots.head)
	return i >= 0 && t.give(p, i, t.slots.message(i, t.slots.head), kind)
}
