package barrierplan

import (
	"time"

	"weft/internal/sim"
)

// Data is traffic besides the barrier: when the barrier begins, each machine begins to send Bytes to each of its
// neighbours.
type Data struct {
	Bytes   int
	Packet  int      // bytes of a packet
	Payload int      // data bytes of a packet
	Wire    sim.Wire // separate links for the data; zero: the data shares the links of the barrier
	Paced   bool     // a packet is queued when the packet before it has left; otherwise all are queued at once
}

// dataPacket is the first byte of a data packet. No gate has this number.
const dataPacket = 0xff

// load starts the data streams.
func (m *simulation) load(topology string) error {
	net := m.net
	wire := m.Wire
	if m.Data.Wire != (sim.Wire{}) {
		wire = m.Data.Wire
		top, err := sim.ParseTopology(topology, m.N, wire)
		if err != nil {
			return err
		}
		net = sim.NewNetwork(m.world, top)
		for i := range m.N {
			net.Machine(i).Boot(sink{})
		}
	}
	count := (m.Data.Bytes + m.Data.Payload - 1) / m.Data.Payload
	for id := range net.Topology().Links() {
		from, to := net.Topology().Ends(id)
		if from < 0 || from >= m.N || to >= m.N {
			continue
		}
		s := &stream{world: m.world, net: net, from: from, to: to, left: count, packet: make([]byte, m.Data.Packet)}
		s.packet[0] = dataPacket
		if m.Data.Paced {
			s.pace = wire.Takes(m.Data.Packet)
		}
		s.Act()
	}
	return nil
}

// A stream is the data from one machine to a neighbour.
type stream struct {
	world    *sim.World
	net      *sim.Network
	from, to int
	left     int // packets
	packet   []byte
	pace     time.Duration // from one packet to the next; 0: all at once
}

// Act sends one packet, or all of them.
func (s *stream) Act() {
	for s.left > 0 {
		s.left--
		s.net.Send(s.from, s.to, s.packet, nil)
		if s.pace > 0 {
			s.world.At(s.world.Now().Add(s.pace), s)
			return
		}
	}
}

// A sink discards the packets on the links for data.
type sink struct{}

func (sink) Packet(int, []byte) {}
func (sink) Timer()             {}
