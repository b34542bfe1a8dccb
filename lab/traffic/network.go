package traffic

import (
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/sim"
)

// A Case describes a simulated network and its links.
type Case struct {
	Topology string
	Hosts    int
	Wire     sim.Wire // with a Queue: what a port of a switch holds
	MTU      int
	Link     link.Config
	Access   int64 // bits per second of a host's own link to its switch; 0: as of the others
}

// A Network is a set of hosts and the network between them.
type Network struct {
	Case
	Refused uint64 // packets, by links

	world    *sim.World
	sim      *sim.Network
	hosts    []*host
	ahead    time.Duration // what a host's own link takes before it has sent the rest
	payload  []byte
	messages []*message
	free     []uint32          // tokens
	got      map[[2]int]uint64 // bytes of messages that have arrived, by sender and receiver
	forgets  bool              // hosts that have nothing to do with each other any more forget that
}

// A message is a number of bytes from one host to another.
type message struct {
	from, to int
	size     int
	begun    sim.Time
	arrived  func() // when all of it is there
}

// Longest is the longest message in bytes.
const Longest = 1 << 20

// Open returns the network of a case, without any traffic.
func Open(c Case) (*Network, error) {
	t, err := sim.ParseTopology(c.Topology, c.Hosts, c.Wire)
	if err != nil {
		return nil, err
	}
	n := &Network{Case: c, world: sim.NewWorld(1), payload: make([]byte, Longest), got: map[[2]int]uint64{}}
	n.Link.Selective = true
	n.Link.Liveness = -1
	own := c.Wire
	if c.Access > 0 {
		own.Bandwidth = c.Access
		t = access{t, own}
	}
	n.ahead = 4 * own.Takes(c.MTU)
	n.sim = sim.NewNetwork(n.world, t)
	n.hosts = make([]*host, t.Machines())
	for id := range n.hosts {
		self := link.NewSelf(1, uint32(id), life(id), []byte("traffic"))
		h := &host{net: n, id: id, self: self, peers: make([]*peer, len(n.hosts))}
		n.hosts[id] = h
		n.sim.Machine(id).Boot(h)
	}
	return n, nil
}

// An access is a network whose hosts have links of their own kind to it.
type access struct {
	sim.Topology
	wire sim.Wire
}

// Next is that of the network, but for the first link.
func (a access) Next(from, at, to int) (next, link int, wire sim.Wire) {
	if next, link, wire = a.Topology.Next(from, at, to); at == from {
		wire.Bandwidth = a.wire.Bandwidth
	}
	return next, link, wire
}

// Now returns the virtual time.
func (n *Network) Now() time.Duration { return time.Duration(n.world.Now()) }

// Send sends a message, and calls arrived when all of it has reached its receiver.
func (n *Network) Send(from, to, size int, arrived func()) {
	m := &message{from, to, size, n.world.Now(), arrived}
	token := uint32(len(n.messages))
	if last := len(n.free) - 1; last >= 0 {
		token = n.free[last]
		n.free = n.free[:last]
		n.messages[token] = m
	} else {
		n.messages = append(n.messages, m)
	}
	n.hosts[from].send(token, m)
}

// took counts a frame that has reached its receiver.
func (n *Network) took(frame []byte) {
	f, payload, err := wire.ParsePiece(frame)
	if err != nil {
		panic(err) // links deliver what was sent
	}
	m := n.messages[f.Token]
	n.got[[2]int{m.from, m.to}] += uint64(len(payload))
	if f.End {
		n.messages[f.Token] = nil
		n.free = append(n.free, f.Token)
		m.arrived()
	}
}

// Until runs the simulation until done returns true, or for so long. It reports whether done returned true.
func (n *Network) Until(limit time.Duration, done func() bool) bool {
	end := n.world.Now().Add(limit)
	for !done() {
		if !n.world.Step(end) {
			return done()
		}
	}
	return true
}

// For runs the simulation for a time.
func (n *Network) For(d time.Duration) { n.Until(d, func() bool { return false }) }

// Counts are the counters of the network and the links.
type Counts struct{ Packets, Lost, Resent, Timeouts uint64 }

// Counts returns the counters so far.
func (n *Network) Counts() Counts {
	c := Counts{Packets: n.sim.Stats.Sent, Lost: n.sim.Stats.Overflows}
	for _, h := range n.hosts {
		c.Resent += h.counts.Sent.Resent
		c.Timeouts += h.counts.Sent.Lost
	}
	return c
}
