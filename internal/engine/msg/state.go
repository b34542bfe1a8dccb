package msg

import (
	"fmt"

	"weft/failure"
)

// A savedState is a state that has been read and can be restored. Its data lies in what was read.
type savedState struct {
	heard   []int
	peers   []savedPeer
	arrived []savedMessage
	held    Held

	sendRoom, recvRoom int // bytes of buffers that it takes
}

type savedPeer struct {
	rank           int
	base, expected uint32
	sent           []savedMessage
}

type savedMessage struct {
	from, n   int
	data      []byte
	announced bool
	token     uint32
}

// parseState reads a state of a rank of a job of some size.
func parseState(b []byte, size int) (s savedState, why string) {
	if len(b) == 0 {
		return s, ""
	}
	r := reader{b: b}
	for range r.count(min(size, len(r.b)/4)) {
		s.heard = append(s.heard, r.rank(size))
	}
	last := -1
	for range r.count(min(size, len(r.b)/peerSize)) {
		d := r.peer(size)
		if d.rank <= last {
			r.fail("its peers are not in order")
		}
		last = d.rank
		for _, m := range d.sent {
			if !m.announced {
				s.sendRoom += 1 << class(m.n)
			}
			s.held.Sent++
			s.held.SentBytes += len(m.data)
		}
		s.peers = append(s.peers, d)
	}
	for range r.count(len(r.b) / arrivalSize) {
		m := r.arrival(size)
		s.recvRoom += roomOf(m.n)
		s.held.Received++
		s.held.ReceivedBytes += len(m.data)
		s.arrived = append(s.arrived, m)
	}
	if len(r.b) > 0 {
		r.fail(fmt.Sprintf("%d bytes are left over", len(r.b)))
	}
	return s, r.why
}

// Holds returns what a state of a rank of a job of some size holds, or a SavedError.
func Holds(b []byte, size int) (Held, error) {
	s, why := parseState(b, size)
	if why != "" {
		return Held{}, &failure.SavedError{Channel: -1, Why: why}
	}
	return s.held, nil
}

// readState reads a state and checks that this port can have it: its messages find room.
func (p *Port) readState(b []byte) (savedState, error) {
	s, why := parseState(b, p.layer.size)
	// A receive from one rank is served on top of a full buffer. If it is given up, its message stays: so a port may hold
	// a message of each rank more than its receive buffer.
	most := p.recv.limit + p.layer.size*MaxEager
	switch free := p.send.limit - p.send.used + p.sendHeld(); {
	case why != "":
	case s.sendRoom > free:
		why = fmt.Sprintf("its unacknowledged messages take %d bytes of the send buffer, where %d are free", s.sendRoom, free)
	case s.recvRoom > most:
		why = fmt.Sprintf("its messages take %d bytes, and the receive buffer has %d, or %d with a message of each rank",
			s.recvRoom, p.recv.limit, most)
	}
	if why != "" {
		return savedState{}, &failure.SavedError{Channel: int(p.channel), Why: why}
	}
	return s, nil
}

// roomOf returns the room that a message takes in the receive buffer.
func roomOf(n int) int {
	if n > MaxEager {
		n = 0
	}
	return 1 << class(n)
}

// sendHeld returns the bytes of the send buffer in messages that have not been acknowledged; the rest is in drafts.
func (p *Port) sendHeld() (bytes int) {
	for _, d := range p.pairs {
		for q := d.base; q != d.next; q++ {
			if b := d.entry(q).block; b != nil {
				bytes += len(b.mem)
			}
		}
	}
	return bytes
}

// A reader takes a state apart. After the first thing that cannot be right it yields nothing but zeros.
type reader struct {
	b   []byte
	why string
}

func (r *reader) fail(why string) {
	if r.why == "" {
		r.why = why
	}
	r.b = nil
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail("it is cut short")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return order.Uint32(b)
	}
	return 0
}

// count reads a number of things, of which there are at most most.
func (r *reader) count(most int) int {
	n := r.u32()
	if uint64(n) > uint64(most) {
		r.fail(fmt.Sprintf("it has %d of what there can be %d", n, most))
		return 0
	}
	return int(n)
}

func (r *reader) rank(size int) int {
	n := r.u32()
	if uint64(n) >= uint64(size) {
		r.fail(fmt.Sprintf("it names rank %d of a job of %d", n, size))
		return 0
	}
	return int(n)
}

// length reads the length of a message, of at most most.
func (r *reader) length(most int) int {
	b := r.take(8)
	if b == nil {
		return 0
	}
	n := order.Uint64(b)
	if n > uint64(most) {
		r.fail(fmt.Sprintf("it has a message of %d bytes, where at most %d are possible", n, most))
		return 0
	}
	return int(n)
}

func (r *reader) peer(size int) (d savedPeer) {
	d.rank = r.rank(size)
	d.base = r.u32()
	d.expected = r.u32()
	for range r.count(window) {
		var m savedMessage
		switch how := r.take(1); {
		case how == nil:
		case how[0] == savedWhole:
			m.n = r.length(MaxUnasked)
			m.data = r.take(m.n)
		case how[0] == savedAnnounced:
			m.announced = true
			m.n = r.length(1 << 40)
			m.token = r.u32()
		default:
			r.fail(fmt.Sprintf("it has a message of kind %d", how[0]))
		}
		d.sent = append(d.sent, m)
	}
	return d
}

// The least that a peer, and a message that has arrived, take in a state.
const (
	peerSize    = 4 * 4
	arrivalSize = 4 + 8
)

func (r *reader) arrival(size int) (m savedMessage) {
	m.from = r.rank(size)
	m.n = r.length(len(r.b))
	m.data = r.take(m.n)
	return m
}
