package traffic

import (
	"slices"

	"weft/internal/counters"
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/sim"
)

// A host is one machine, with a link (package link) to each host that it exchanges messages with.
type host struct {
	net     *Network
	id      int
	self    *link.Self
	counts  counters.Peer // of all peers together
	active  link.Active
	peers   []*peer // by number; nil until they meet
	waits   bool    // its own link has as much as it takes
	packets [8]link.Packet

	asleep bool      // its process does not look at the network
	wakes  sim.Time  // when it does again
	box    []arrival // what has come meanwhile
}

// A peer is the state that a host has of another.
type peer struct {
	host *host
	id   int
	conn *link.Conn
	q    *link.Queue
	due  sim.Time // when Act will be called
	then sim.Time // and when after that
}

// peer returns the link to another host, and makes it when it is first used. It is the engine's link with its real
// congestion control; only the time and the wires are simulated.
func (h *host) peer(id int) *peer {
	if p := h.peers[id]; p != nil {
		return p
	}
	p := &peer{host: h, id: id, due: sim.Never, then: sim.Never}
	p.conn = link.NewConn(&h.net.Link, h.self, uint32(id), life(id))
	p.conn.Count(&h.counts)
	p.conn.Guard(link.Checked)
	p.conn.Limit(h.net.world.Now(), h.net.MTU)
	p.q = link.NewQueue(id, &h.active)
	p.q.Owner = p
	h.peers[id] = p
	return p
}

// life is the incarnation of every host.
func life(id int) uint64 { return uint64(id) + 1 }

// send puts a message into the queue to its receiver. PIECE frames carry it. Their token identifies the message, so
// the receiver needs no layers above the link.
func (h *host) send(token uint32, m *message) {
	p := h.peer(m.to)
	p.q.Push(wire.Piece{Token: token, End: true}.Append(p.q.Head()), h.net.payload[:m.size], false)
	h.flush()
}

// Packet gives a packet to its link, and the frames in it to their messages.
func (h *host) Packet(from int, b []byte) {
	if h.asleep {
		h.box = append(h.box, arrival{from, slices.Clone(b)})
		return
	}
	p := h.peer(from)
	now := h.net.world.Now()
	frame, err := p.conn.Recv(now, b, link.Checked, true)
	if err != nil {
		h.net.Refused++
		return
	}
	for ; frame != nil; frame = p.conn.Kept(now, true) {
		h.net.took(frame)
	}
	h.active.Add(p.q)
	h.flush()
	p.watch()
	if h.net.forgets {
		p.forget()
	}
}

// Timer is never called: each link has its own event (watch).
func (h *host) Timer() {}

// Act lets the link handle its timers.
func (p *peer) Act() {
	now := p.host.net.world.Now()
	if now < p.due || p.host.peers[p.id] != p {
		return // it has been put off, or forgotten
	}
	if p.host.asleep {
		p.host.net.world.At(p.host.wakes, p)
		return
	}
	p.due = p.then
	p.then = sim.Never
	if !now.Before(p.conn.Deadline()) {
		p.conn.Advance(now)
		p.host.active.Add(p.q)
		p.host.flush()
	}
	p.watch()
}

// watch schedules Act at the time that the link needs it.
func (p *peer) watch() {
	if at := p.conn.Deadline(); at < p.due {
		at = max(at, p.host.net.world.Now()+1)
		p.due, p.then = at, p.due
		p.host.net.world.At(at, p)
	}
}

// flush sends frames as long as the host's own link takes packets.
func (h *host) flush() {
	now := h.net.world.Now()
	for q := h.active.First(); q != nil && !h.waits && !h.asleep; q = h.active.First() {
		p := q.Owner.(*peer)
		if n := p.output(now); n == 0 {
			h.active.Remove()
		} else {
			h.deliver(now, p, n)
		}
		p.watch()
	}
}

// output moves frames into the window of the link, as the engine does.
func (p *peer) output(now sim.Time) int {
	for p.conn.Waiting() < len(p.host.packets) && p.conn.Ready(now) {
		head, payload, _, ok := p.q.Next(p.conn.Room(), p.conn.Roomy(now))
		if !ok {
			break
		}
		p.conn.Queue(now, head, payload)
		p.q.Sent(len(payload))
	}
	p.conn.More(p.q.Len() > 0)
	return p.conn.Output(now, p.host.packets[:])
}

// deliver gives the n packets of output to the host's own link, which takes more only when it has nearly sent the
// packets before.
func (h *host) deliver(now sim.Time, p *peer, n int) {
	for i, pkt := range h.packets[:n] {
		if free := h.net.sim.Free(h.id, p.id); free.Sub(now) > h.net.ahead {
			h.waits = true
			h.net.world.At(free.Add(-h.net.ahead), (*room)(h))
			p.conn.Unsent(now, n-i)
			break
		}
		h.net.sim.Send(h.id, p.id, pkt.Header, pkt.Payload)
	}
	h.active.Rotate()
}

// room is the event at which a host's own link takes packets again.
type room host

// Act goes on.
func (r *room) Act() {
	r.waits = false
	(*host)(r).flush()
}

// forget drops the state that two hosts have of each other, if no message is left to send.
func (p *peer) forget() {
	other := p.host.net.hosts[p.id].peers[p.host.id]
	if other == nil || !p.idle() || !other.idle() {
		return
	}
	for _, p := range []*peer{p, other} {
		p.host.peers[p.id] = nil
	}
}

func (p *peer) idle() bool { return p.conn.Idle() && p.q.Len() == 0 }
