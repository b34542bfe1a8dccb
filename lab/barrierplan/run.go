package barrierplan

import (
	"encoding/binary"
	"fmt"
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
	text := c.Topology
	if text == "torus" {
		text = SquareTorus(c.N)
	}
	top, err := sim.ParseTopology(text, c.N, c.Wire)
	if err != nil {
		return Result{}, err
	}
	m := &simulation{Case: c, world: sim.NewWorld(1)}
	m.net = sim.NewNetwork(m.world, top)
	m.members = make([]member, c.N)
	for i := range m.members {
		plan, err := coord.NewPlan(c.Algorithm, c.N, c.Arity, i)
		if err != nil {
			return Result{}, err
		}
		p := &m.members[i]
		*p = member{
			m: m, id: i, gates: plan.Gates,
			left: make([]int, len(plan.Gates)), late: make([]origin, len(plan.Gates)),
		}
		for g := range plan.Gates {
			p.left[g] = plan.Gates[g].Inputs
		}
		m.net.Machine(i).Boot(p)
	}
	if c.Data.Bytes > 0 {
		if err := m.load(text); err != nil {
			return Result{}, err
		}
	}
	for i := range m.members {
		m.members[i].input(0, origin{})
	}
	for m.world.Step(sim.Never) {
	}
	m.result.Topology = top.Name()
	m.result.Skew = time.Duration(m.last - m.first)
	m.result.Time = time.Duration(m.last)
	return m.result, nil
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
	result      Result
	done        int
	first, last sim.Time
}

// An origin is how many messages and hops led, one after another, to an input of a gate.
type origin struct{ steps, hops int }

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
	p.input(int(b[0]), origin{int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint32(b[4:]))})
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
	if p.left[gate]--; p.left[gate] > 0 {
		return
	}
	m := p.m
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
		b := make([]byte, max(m.Size, 8))
		b[0] = byte(s.Gate)
		binary.LittleEndian.PutUint16(b[2:], uint16(late.steps+1))
		binary.LittleEndian.PutUint32(b[4:], uint32(late.hops+hops))
		m.net.Send(p.id, s.To, b, nil)
	}
}

// hops returns the number of links between two machines.
func (m *simulation) hops(from, to int) (n int) {
	for at := from; at != to; n++ {
		at, _, _ = m.net.Topology().Next(from, at, to)
	}
	return n
}
