package barrierplan

import (
	"time"

	"weft/internal/sim"
)

// Data is what else moves on the network: when the barrier begins, each machine begins to
// send so many bytes to each of its neighbours.
type Data struct {
	Bytes   int
	Packet  int      // bytes of a packet
	Payload int      // of which are data
	Wire    sim.Wire // the links that the packets have to themselves; 0: they share those of the barrier
	Paced   bool     // a packet is given to a link when the one before it has left, else all at once
}

// dataPacket is the first byte of a packet of data, which is no gate's number.
const dataPacket = 0xff

// load begins to send the data.
func (m *meeting) load(topology string) error {
	net, wire := m.net, m.Wire
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

// Act sends a packet, or all.
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

// A sink takes what arrives on the links for data.
type sink struct{}

func (sink) Packet(int, []byte) {}
func (sink) Timer()             {}
