package proc

import "weft/internal/transport"

// Caps describes a lossy network, even if the simulated one loses nothing.
func (p *Process) Caps() transport.Caps {
	return transport.Caps{Name: "sim", MTU: p.mtu, Direct: p.memory != nil}
}

// Card returns nothing: machines are addressed by their ranks.
func (p *Process) Card() string { return "" }

// Dial does nothing: every machine can be reached.
func (p *Process) Dial(peer int, card string) error { return nil }

// PeerMTU returns the longest packet.
func (p *Process) PeerMTU(peer int) int { return p.mtu }

// Lane returns nil: all packets go through Send.
func (p *Process) Lane(peer int) transport.Lane { return nil }

// backlog is how many of the longest packets a machine's own link holds, as few as a kernel leaves to a fast card: what
// is urgent goes ahead of a long message only until it is there. The driver is called when there is room again.
const backlog = 8

// Send sends packets as long as the machine's own link takes them.
func (p *Process) Send(pkts []transport.Out) (n int) {
	p.use()
	for ; n < len(pkts); n++ {
		o := &pkts[n]
		now := p.world.Now()
		if at := p.net.Room(p.rank, o.Peer, backlog*p.mtu); at > now {
			if !p.full {
				p.full = true
				p.world.After(at.Sub(now), p.roomAgain)
			}
			break
		}
		p.net.Send(p.rank, o.Peer, o.Header, o.Payload)
	}
	p.turns.done.Add(1)
	return n
}

// roomAgain lets the driver offer packets again.
func (p *Process) roomAgain() {
	p.full = false
	p.room = true
	p.runDriverLater()
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

// Arm does nothing: the world wakes a waiting goroutine when a packet arrives.
func (p *Process) Arm() {}

// Forget does nothing: there is no state of a peer.
func (p *Process) Forget(peer int) {}

// Memory returns the memory that the process shares with others of its host, or nil.
func (p *Process) Memory() transport.Memory { return p.memory }

// MemoryBytes returns 0: the transport holds no memory.
func (p *Process) MemoryBytes() uint64 { return 0 }

// Close closes the transport. A real one unmaps its memory then, so Send and Poll panic afterwards.
func (p *Process) Close() error {
	p.closed = true
	p.leaveHost()
	return nil
}

// use panics if the transport has been closed.
func (p *Process) use() {
	if p.closed {
		panic("weft: a transport is used after Close")
	}
}
