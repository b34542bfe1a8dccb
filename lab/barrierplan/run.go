package barrierplan

import (
	"encoding/binary"
	"fmt"
	"maps"
	"time"

	"weft/internal/engine/coord"
	"weft/internal/sim"
)

// A Case is one barrier to run.
type Case struct {
	Algorithm coord.Algorithm
	N, Arity  int
	Topology  string // what sim.ParseTopology takes; "torus" stands for one as square as N allows
	Wire      sim.Wire
	Size      int // of a message in bytes
	Data      Data
	Printed   bool // by the steps of [Hayakawa98] as they are printed, on the torus of Topology
}

// A Result is the figures of one barrier.
type Result struct {
	Topology string
	Messages int
	Hops     uint64        // of all messages
	Steps    int           // messages in sequence until the last member may go on
	Longest  int           // hops in sequence
	Time     time.Duration // from the arrival of all members at once until the last may go on
	Bound    time.Duration // the same if no message had to wait for another on a link
	Skew     time.Duration // from the first to the last member to go on
	Stuck    int           // members that never go on
	Unpaired int           // of these, members that the other one of their pair never notifies
	Early    int           // members that go on although one that they have not heard of may not have arrived
}

// Run runs a barrier.
func Run(c Case) (Result, error) {
	r, err := run(c)
	if err != nil {
		return r, err
	}
	free := c
	free.Data = Data{}
	free.Wire = sim.Wire{Delay: c.Wire.Delay + c.Wire.Takes(c.Size)}
	unhindered, err := run(free)
	r.Bound = unhindered.Time
	return r, err
}

// run runs one barrier on a network of its own, beside other traffic if Case.Data says so. All members arrive at
// time 0. Skew is the time between the first and the last member that leave.
func run(c Case) (Result, error) {
	m := &simulation{Case: c, world: sim.NewWorld(1), node: make([]int, c.N)}
	for i := range m.node {
		m.node[i] = i
	}
	nodes := c.N
	if c.Topology == "torus" {
		c.Topology = SquareTorus(c.N)
		if c.Algorithm == coord.ModifiedShuffle && !c.Printed {
			placing := Place(c.N)
			m.node = placing.Node
			c.Topology = fmt.Sprintf("torus:%dx%d", placing.Rows, placing.Columns)
			nodes = placing.Rows * placing.Columns
		}
	}
	text := c.Topology
	top, err := sim.ParseTopology(text, nodes, c.Wire)
	if err != nil {
		return Result{}, err
	}
	m.net = sim.NewNetwork(m.world, top)
	if err := m.boot(c); err != nil {
		return Result{}, err
	}
	if c.Data.Bytes > 0 {
		if err := m.load(text); err != nil {
			return Result{}, err
		}
	}
	for i := range m.members {
		var own origin
		if c.Printed {
			own.heard = set{i: true}
		}
		m.members[i].input(0, own)
	}
	for m.world.Step(sim.Never) {
	}
	for i := range m.members {
		m.judge(&m.members[i])
	}
	m.result.Topology = top.Name()
	m.result.Skew = time.Duration(m.last - m.first)
	m.result.Time = time.Duration(m.last)
	return m.result, nil
}

// boot makes the members.
func (m *simulation) boot(c Case) error {
	m.members = make([]member, c.N)
	for i := range m.members {
		plan, err := c.plan(i)
		if err != nil {
			return err
		}
		p := &m.members[i]
		*p = member{
			m: m, id: i, gates: plan.Gates,
			left: make([]int, len(plan.Gates)), late: make([]origin, len(plan.Gates)),
		}
		for g := range plan.Gates {
			p.left[g] = plan.Gates[g].Inputs
		}
		m.net.Machine(m.node[i]).Boot(p)
	}
	return nil
}

// SquareTorus returns the name of the two-dimensional torus of n machines that is nearest to a square.
func SquareTorus(n int) string {
	rows := 1
	for r := 1; r*r <= n; r++ {
		if n%r == 0 {
			rows = r
		}
	}
	return fmt.Sprintf("torus:%dx%d", rows, n/rows)
}

// A simulation is one run of a barrier.
type simulation struct {
	Case
	world       *sim.World
	net         *sim.Network
	members     []member
	node        []int // where each member is
	heard       []set // that packets carry, by the number in the packet
	result      Result
	done        int
	first, last sim.Time
}

// An origin is how many messages and hops led, one after another, to an input of a gate.
type origin struct {
	steps, hops int
	heard       set
}

// A member is one rank: it runs the gates of its plan.
type member struct {
	m     *simulation
	id    int
	gates []coord.Gate
	left  []int
	late  []origin // by gate: the longest origin of its inputs
}

// Packet counts an input of a gate.
func (p *member) Packet(from int, b []byte) {
	if b[0] == dataPacket {
		return
	}
	o := origin{steps: int(binary.LittleEndian.Uint16(b[2:])), hops: int(binary.LittleEndian.Uint32(b[4:]))}
	if p.m.Printed {
		o.heard = p.m.heard[binary.LittleEndian.Uint32(b[8:])]
	}
	p.input(int(b[0]), o)
}

// Timer is never called.
func (p *member) Timer() {}

// input counts an input of a gate (PROTOCOL §9.5.1). The gate opens with its last input, and then sends to other
// gates; a gate of the same member is reached without a message. late keeps the most steps, and the most hops, of
// all chains of messages that lead to the gate.
func (p *member) input(gate int, o origin) {
	late := &p.late[gate]
	late.steps = max(late.steps, o.steps)
	late.hops = max(late.hops, o.hops)
	m := p.m
	if m.Printed {
		late.heard = late.heard.with(o.heard)
	}
	if p.left[gate]--; p.left[gate] != 0 { // below: the printed steps tell some nodes twice
		return
	}
	g := &p.gates[gate]
	if g.Done {
		if m.done++; m.done == 1 {
			m.first = m.world.Now()
		}
		m.last = m.world.Now()
		m.result.Steps = max(m.result.Steps, late.steps)
		m.result.Longest = max(m.result.Longest, late.hops)
	}
	for _, s := range g.Sends {
		if s.To == p.id {
			p.input(s.Gate, *late)
			continue
		}
		hops := m.hops(p.id, s.To)
		m.result.Messages++
		m.result.Hops += uint64(hops)
		b := make([]byte, max(m.Size, 12))
		b[0] = byte(s.Gate)
		binary.LittleEndian.PutUint16(b[2:], uint16(late.steps+1))
		binary.LittleEndian.PutUint32(b[4:], uint32(late.hops+hops))
		if m.Printed {
			binary.LittleEndian.PutUint32(b[8:], uint32(len(m.heard)))
			m.heard = append(m.heard, maps.Clone(late.heard))
		}
		m.net.Send(m.node[p.id], m.node[s.To], b, nil)
	}
}

// hops returns the number of links between two machines.
func (m *simulation) hops(from, to int) (n int) {
	from = m.node[from]
	to = m.node[to]
	for at := from; at != to; n++ {
		at, _, _ = m.net.Topology().Next(from, at, to)
	}
	return n
}
