package msg

// On a long path a buffer of a fixed size bounds the rate: what it holds takes a round trip to be acknowledged. So a
// buffer whose size the program has left to its default follows bandwidth times delay, which the window of the link
// finds out (package link). It grows only where it is the limit:
//
//	buffer   event                                              what happens
//	send     a send to a peer finds no room, and everything     the peer's part of it doubles, up to mostReach
//	         that is kept for the peer is on a long path
//	send     a message is announced over a long path that       the same, up to 4 · MaxUnasked
//	         would be sent unasked if there were room
//	receive  a sender behind a long path asks for an            it doubles, up to 2 · mostReach; the answer says so
//	         acknowledgement or announces a long message, and
//	         the program keeps up: three quarters are free
//	both     nothing has come from the peer for some time       what they have grown by goes back
//
// Memory is taken when messages come, and not before.

// mostReach is the most bytes of a send buffer that one peer gets.
const mostReach = 24 << 20

// MaxUnasked is the longest message in bytes that travels unasked over a long path, where asking would take longer than
// to send it. Both ends have room for some then. (PROTOCOL §3.1)
const MaxUnasked = 1 << maxClass

// roomy is how many of the longest messages both ends have room for before such a message is sent unasked.
const roomy = 4

// A growth says which buffers of a port follow the paths: the program has not configured these.
type growth struct{ send, recv bool }

// part returns how many bytes of the send buffer a peer may have: half of it, since all peers share it, and what has
// been added for the peer's long path.
func (p *Port) part(d *pair) int { return p.cfg.SendBuffer/2 + d.extra }

// most returns how many messages to a peer may be unacknowledged.
func (d *pair) most() uint32 {
	if d.denied != nil {
		return 0
	}
	return window + uint32(d.extra)>>11
}

// stretch makes a peer's part of the send buffer larger, and reports whether it did, if a send found no room although
// everything is on its way.
func (p *Port) stretch(d *pair) bool {
	idle := d.flow == flowing && d.sent == d.next && d.q.Len() == 0
	return idle && p.enlarge(d, mostReach)
}

// enlarge doubles a peer's part of the send buffer, up to most, if the path is long.
func (p *Port) enlarge(d *pair, most int) bool {
	part := p.part(d)
	if !p.grows.send || !d.q.Long || part >= most {
		return false
	}
	by := min(max(part, roomy*MaxUnasked-part), most-part)
	d.extra += by
	p.send.limit += by
	return true
}

// widen makes the receive buffer larger if a sender behind a long path needs more room and the program keeps up. It
// reports whether it did.
func (p *Port) widen(d *pair) bool {
	limit := p.recv.limit
	if !p.grows.recv || !d.q.Long || limit >= 2*mostReach || p.recv.used > limit/4 || d.since < limit/4 {
		return false
	}
	p.recv.limit = min(max(2*limit, 2*roomy*MaxUnasked), 2*mostReach)
	d.since = 0
	return true
}

// narrow takes back what a peer's long path has added to the buffers.
func (p *Port) narrow(d *pair) {
	p.send.limit -= d.extra
	d.extra = 0
	p.send.trim()
	if p.grows.recv && p.open && p.recv.used+p.promised <= p.cfg.RecvBuffer {
		p.recv.limit = p.cfg.RecvBuffer
		p.recv.trim()
	}
}

// trim gives up the blocks that are not in use, if they hold more than the limit.
func (p *pool) trim() {
	if p.held <= p.limit {
		return
	}
	for i, b := range p.free {
		for ; b != nil; b = b.next {
			p.held -= len(b.mem)
		}
		p.free[i] = nil
	}
}
