package proc

import "weft/internal/transport"

// Caps says that the network is a lossy one, whether it loses anything or not.
func (p *Process) Caps() transport.Caps {
	return transport.Caps{Name: "sim", MTU: p.mtu, Direct: p.memory != nil}
}

// Card returns nothing: machines are known by the ranks that they have.
func (p *Process) Card() string { return "" }

// Dial does nothing: every machine can be reached.
func (p *Process) Dial(peer int, card string) error { return nil }

// PeerMTU returns the longest packet.
func (p *Process) PeerMTU(peer int) int { return p.mtu }

// Lane returns nil: packets go through Send.
func (p *Process) Lane(peer int) transport.Lane { return nil }

// Send takes all packets.
func (p *Process) Send(pkts []transport.Out) int {
	p.use()
	for _, o := range pkts {
		p.net.Send(p.rank, o.Peer, o.Header, o.Payload)
	}
	p.turns.done.Add(1)
	return len(pkts)
}

// Pending reports whether a packet has arrived.
func (p *Process) Pending() bool { return len(p.in) > 0 }

// Poll returns the packets that have arrived.
func (p *Process) Poll(dst []transport.In) int {
	p.use()
	n := copy(dst, p.in)
	p.in = append(p.in[:0], p.in[n:]...)
	return n
}

// Release does nothing: the network takes its packets back by itself.
func (p *Process) Release() {}

// Arm does nothing: whoever waits is woken.
func (p *Process) Arm() {}

// Forget does nothing: a peer that lives will find us silent.
func (p *Process) Forget(peer int) {}

// Memory returns what the process shares with others of its host, or nil.
func (p *Process) Memory() transport.Memory { return p.memory }

// MemoryBytes returns 0.
func (p *Process) MemoryBytes() uint64 { return 0 }

// Close ends the transport. Real ones take their memory away then: whoever sends or
// polls afterwards panics.
func (p *Process) Close() error {
	p.closed = true
	return nil
}

// use panics if the transport is closed.
func (p *Process) use() {
	if p.closed {
		panic("weft: a transport is used that has been closed")
	}
}
