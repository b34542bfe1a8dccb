package endpoint

import (
	"fmt"

	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// A peer is an endpoint that this one has to do with: the program has inserted it, or it has greeted.
//
//	state      from                                 the engine
//	known      Insert, or a greeting                has not asked for it
//	awaited    the engine asks, and there is no     has packets for it
//	           name so far
//	connected  the engine asks, or a name comes     sends packets to it
type peer struct {
	id        int
	number    int    // in queues
	addr      uint64 // the fi_addr_t by which the program knows it, or NotAvailable
	name      name
	transport transport.Transport // nil until connected
	greeting  greeting
}

// peers are those known so far.
type peers struct {
	byID     map[int]*peer
	byAddr   []*peer // by fi_addr_t
	last     *peer   // found last
	awaited  map[int]bool
	greet    []*peer // that have not answered
	greetAt  monotime.Time
	byNumber []*peer
}

// find returns a peer, or nil.
func (p *peers) find(id int) *peer {
	if p.last != nil && p.last.id == id {
		return p.last
	}
	found := p.byID[id]
	if found != nil {
		p.last = found
	}
	return found
}

// meet adds a peer, which may be there already. The lock is held.
func (e *Endpoint) meet(n *name) *peer {
	p := e.peers.byID[n.id]
	if p != nil {
		return p
	}
	p = &peer{id: n.id, number: len(e.peers.byNumber), addr: NotAvailable, name: *n}
	e.peers.byID[n.id] = p
	e.peers.byNumber = append(e.peers.byNumber, p)
	for _, q := range e.queues {
		q.Grow(len(e.peers.byNumber))
	}
	if e.peers.awaited[n.id] {
		delete(e.peers.awaited, n.id)
		e.connect(p)
	}
	return p
}

// Insert makes an endpoint known by its name. The program calls it by the number addr from now on. An endpoint that is
// inserted twice is reported by the first number.
func (e *Endpoint) Insert(addr uint64, text []byte) error {
	n, err := parseName(text)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n.job != e.name.job {
		return fmt.Errorf("weft: the endpoint at %v belongs to another job", n.subnet.Addr())
	}
	p := e.meet(&n)
	if p.name.life != n.life {
		return fmt.Errorf("weft: the endpoints at %v and %v have the same number in the job, %d",
			p.name.subnet.Addr(), n.subnet.Addr(), n.id)
	}
	for uint64(len(e.peers.byAddr)) <= addr {
		e.peers.byAddr = append(e.peers.byAddr, nil)
	}
	e.peers.byAddr[addr] = p
	if p.addr == NotAvailable {
		p.addr = addr
	}
	return nil
}

// at returns the peer of a number of the program, or nil. The lock is held.
func (e *Endpoint) at(addr uint64) *peer {
	if addr < uint64(len(e.peers.byAddr)) {
		return e.peers.byAddr[addr]
	}
	return nil
}

// want connects to a peer that the engine has packets for. The lock is held.
func (e *Endpoint) want(id int) {
	if p := e.peers.byID[id]; p != nil {
		e.connect(p)
		return
	}
	if e.peers.awaited == nil {
		e.peers.awaited = map[int]bool{}
	}
	e.peers.awaited[id] = true // it has sent something, and so it greets
}

// connect makes a path to a peer. The lock is held.
func (e *Endpoint) connect(p *peer) {
	if p.transport != nil || p.id == e.name.id {
		return
	}
	t, card := e.networks.to(&e.name, &p.name)
	if err := t.Dial(p.id, card); err != nil {
		e.eng.Down(p.id, err, false)
		return
	}
	p.transport = t
	caps := t.Caps()
	e.eng.Connect(e.now(), p.id, engine.Path{
		MTU: t.PeerMTU(p.id), Lossy: !caps.Reliable, Guard: e.guard(p, t), Devices: caps.Devices, Incarnation: p.name.life,
	})
	e.greet(p)
}

// guard returns what protects packets to and from a peer. Both endpoints come to the same. As in jobs of weft, a
// checksum does on a segment by raw Ethernet, a tag by UDP, and elsewhere packets are encrypted; but where the launcher
// gives the ranks no key there is nothing to do more with than a checksum, and within a host nothing to protect from.
func (e *Endpoint) guard(p *peer, t transport.Transport) link.Guard {
	a := e.name.subnet
	b := p.name.subnet
	switch {
	case !e.who.shared || t == e.networks.eth || a.Addr() == b.Addr() || a.Addr().IsLoopback():
		return link.Checked
	case a.Contains(b.Addr()) && b.Contains(a.Addr()):
		return link.Tagged
	default:
		return link.Encrypted
	}
}
