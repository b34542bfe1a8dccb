package sim

import (
	"fmt"
	"hash/crc32"
	"time"
)

// A Network carries packets between machines.
type Network struct {
	Faults Faults
	Stats  NetworkStats

	// Near reports whether two machines share a host, so that packets between them bypass the network and take
	// NearDelay. If it is nil, no machines do.
	Near func(from, to int) bool

	// Describe returns a description of a packet for the log.
	Describe func(b []byte) string

	world    *World
	table    *crc32.Table // of the CRC by which the hash of a run notes the bytes of each packet
	topology Topology
	machines []*Machine
	links    []link
	cut      map[pair]bool // pairs that a partition separates
	clogged  map[pair]Time
	slow     map[int]time.Duration // added delay of a machine's packets
	narrow   map[pair]int          // longest packet in bytes that a path carries
	free     []*packet
	recent   []*packet // copies that may be replayed
}

// A link is one direction of a wire.
type link struct {
	free    Time // when it will have sent all packets given to it
	packets uint64
	bytes   uint64
	busy    time.Duration
	dropped uint64
}

// A pair is a direction between two machines.
type pair struct{ from, to int }

// NetworkStats counts the packets of a network by what became of them.
type NetworkStats struct {
	Sent, Delivered, Bytes                         uint64
	Lost, Duplicated, Reordered, Damaged, Replayed uint64
	Cut                                            uint64 // by a partition
	TooLong                                        uint64 // for their path, which drops them silently
	Overflows                                      uint64 // of a link's queue
}

// NewNetwork returns the machines of a cluster, all switched off, and the network between them.
func NewNetwork(w *World, t Topology) *Network {
	n := &Network{
		world: w, table: crc32.MakeTable(crc32.Castagnoli), topology: t, links: make([]link, t.Links()),
		cut: map[pair]bool{}, clogged: map[pair]Time{}, slow: map[int]time.Duration{}, narrow: map[pair]int{},
	}
	for id := range t.Machines() {
		n.machines = append(n.machines, &Machine{ID: id, world: w, off: true, timer: Never})
	}
	return n
}

// Machine returns a machine.
func (n *Network) Machine(id int) *Machine { return n.machines[id] }

// Topology returns the shape of the network.
func (n *Network) Topology() Topology { return n.topology }

// A packet is under way from one machine to another. It is an event: each Act moves it on.
type packet struct {
	net      *Network
	from, to int
	at       int // the last vertex that it has reached
	bytes    []byte
}

// Send sends a packet, header and payload, from one machine to another. The bytes are copied.
func (n *Network) Send(from, to int, header, payload []byte) {
	if most := n.narrow[pair{from, to}]; most > 0 && len(header)+len(payload) > most {
		n.Stats.TooLong++
		n.world.Logf("%d → %d takes %d bytes, not %d", from, to, most, len(header)+len(payload))
		return
	}
	n.Stats.Sent++
	n.Stats.Bytes += uint64(len(header) + len(payload))
	p := n.packet(from, to)
	p.bytes = append(append(p.bytes[:0], header...), payload...)
	n.world.Note('s', uint64(from)<<32|uint64(to), uint64(n.world.Now()), uint64(crc32.Checksum(p.bytes, n.table)))
	if n.Near != nil && n.Near(from, to) {
		p.at = to
		n.world.At(n.world.Now().Add(NearDelay), p)
		return
	}
	n.applyFaults(p)
}

// Free returns when the machine's own link towards another machine will have sent all packets given to it.
func (n *Network) Free(from, to int) Time {
	_, id, _ := n.topology.Next(from, from, to)
	return max(n.links[id].free, n.world.Now())
}

// Room returns when a machine's own link towards another machine takes packets again: if it has some to send, as many
// bytes as given or more than its queue holds, then when it has nearly sent them; else the present.
func (n *Network) Room(from, to, bytes int) Time {
	now := n.world.Now()
	if n.Near != nil && n.Near(from, to) {
		return now
	}
	_, id, wire := n.topology.Next(from, from, to)
	if wire.Queue > 0 {
		bytes = min(bytes, wire.Queue)
	}
	if full := wire.Takes(bytes); full > 0 && n.links[id].free.Sub(now) >= full {
		return n.links[id].free.Add(-full / roomAgain)
	}
	return now
}

// roomAgain is the part of what a machine's own link has been given that it sends at last, when it takes more.
const roomAgain = 16

// NearDelay is the delay of a packet that bypasses the network.
const NearDelay = 300 * time.Nanosecond

// packet returns a packet at its sender, from the free list if there is one there: a run moves millions.
func (n *Network) packet(from, to int) *packet {
	if len(n.free) == 0 {
		return &packet{net: n, from: from, to: to, at: from}
	}
	p := n.free[len(n.free)-1]
	n.free = n.free[:len(n.free)-1]
	p.from = from
	p.to = to
	p.at = from
	return p
}

func (n *Network) recycle(p *packet) { n.free = append(n.free, p) }

// Act moves the packet on: over links without a bandwidth as far as they go, or into the queue of the next link.
func (p *packet) Act() {
	n := p.net
	now := n.world.Now()
	wait := time.Duration(0) // the delays of links without a bandwidth
	for p.at != p.to {
		next, id, wire := n.topology.Next(p.from, p.at, p.to)
		if wire.Bandwidth > 0 && wait > 0 {
			break // it enters that link's queue when it has arrived there
		}
		p.at = next
		l := &n.links[id]
		l.packets++
		l.bytes += uint64(len(p.bytes))
		if wire.Bandwidth == 0 {
			wait += wire.Delay
			continue
		}
		if n.enter(l, wire, p) {
			n.world.At(l.free.Add(wire.Delay), p)
		}
		return
	}
	if wait > 0 {
		n.world.At(now.Add(wait), p)
		return
	}
	n.arrive(p)
}

// enter puts a packet into the queue of a link, and reports whether there was room.
func (n *Network) enter(l *link, wire Wire, p *packet) bool {
	now := n.world.Now()
	takes := wire.Takes(len(p.bytes))
	start := max(now, l.free)
	if wire.Queue > 0 && start.Sub(now) > wire.Takes(wire.Queue) {
		l.dropped++
		n.Stats.Overflows++
		n.log(p, "finds a queue full")
		n.recycle(p)
		return false
	}
	l.free = start.Add(takes)
	l.busy += takes
	return true
}

// arrive gives the packet to its machine.
func (n *Network) arrive(p *packet) {
	n.Stats.Delivered++
	n.world.Note('d', uint64(p.from)<<32|uint64(p.to), uint64(n.world.Now()), uint64(len(p.bytes)))
	n.log(p, "arrives")
	if !n.machines[p.to].deliver(p) {
		n.recycle(p)
	}
}

// log writes a line about a packet, if the world has a log. Describing a packet costs time, so it is not done
// without.
func (n *Network) log(p *packet, what string) {
	if n.world.Log == nil {
		return
	}
	text := ""
	if n.Describe != nil {
		text = n.Describe(p.bytes)
	}
	n.world.Logf("%d → %d  %s %s", p.from, p.to, text, what)
}

// Utilization returns the share of the time until end in which links were busy: the mean of all links that carried
// anything, the highest, and the name of the busiest link.
func (n *Network) Utilization(end Time) (mean, most float64, where string) {
	used := 0
	worst := -1
	for id := range n.links {
		if n.links[id].packets == 0 {
			continue
		}
		used++
		u := float64(n.links[id].busy) / float64(end)
		mean += u
		if worst < 0 || u > most {
			most = u
			worst = id
		}
	}
	if used == 0 {
		return 0, 0, "no link was used"
	}
	return mean / float64(used), most, n.linkName(worst)
}

// linkName names a link by the vertices at its ends.
func (n *Network) linkName(id int) string {
	from, to := n.topology.Ends(id)
	return n.vertexName(from) + " → " + n.vertexName(to)
}

// vertexName returns the name that the topology gives to a host or switch, or a number.
func (n *Network) vertexName(v int) string {
	if s, ok := n.topology.(interface{ Label(vertex int) string }); ok {
		return s.Label(v)
	}
	if m := n.topology.Machines(); v >= m {
		return fmt.Sprintf("switch %d", v-m)
	}
	return fmt.Sprint(v)
}
