package swarm

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/sim"
)

// A Violation is something that must not happen.
type Violation struct {
	Kind string // which checker found it; see Kinds
	At   sim.Time
	Text string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%s, at %v: %s", v.Kind, time.Duration(v.At), v.Text)
}

// Kinds lists what checkers there are.
var Kinds = []string{
	"mailbox", "exclusion", "told", "fencing", "barrier", "delivery", "memory", "completion", "order", "atomicity",
	"occupancy", "room", "fairness", "false death", "refusal", "flush", "silence", "stuck", "leak", "panic",
}

// A Result is what came of a run.
type Result struct {
	Options   Options
	Violation *Violation // nil: all was well
	Hash      uint64     // of everything that happened
	Time      sim.Time   // virtual time when it ended
	Events    uint64
	Network   sim.NetworkStats

	Messages, Operations, Resent uint64 // messages received, operations on memory, packets sent again
	Refused                      uint64 // messages
	Deaths                       int    // peers declared dead
}

// Run runs a cluster. The log may be nil.
func Run(o Options, log io.Writer) (r Result) {
	c := newCluster(o, log)
	r.Options = o
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Violation:
			r.Violation = e
		default:
			r.Violation = &Violation{"panic", c.world.Now(), fmt.Sprintf("%v\n%s", e, debug.Stack())}
		}
		if v := r.Violation; v != nil {
			c.world.Logf("VIOLATION: %v", v)
		}
		c.report(&r)
	}()
	c.run()
	return r
}

// A cluster is one run.
type cluster struct {
	Options
	world *sim.World
	net   *sim.Network
	nodes []*node // the present incarnation of each rank; nil while it is off
	boots []uint8

	streams   map[flow]*stream
	flows     []flow // their keys, in the order in which they began
	cursors   map[flow]*cursor
	areas     []*area
	mailboxes []*mailboxModel
	checker   *coordChecker
	gang      *gang
	tick      int64 // orders the beginnings and ends of atomic operations

	calm     bool            // faults have ended
	troubled []bool          // ranks that had faults for which others may call them dead
	paused   []bool          // ranks that others may take for dead, but that have no reason to take others for dead
	deaths   map[pairOf]bool // which incarnation has declared which dead
	result   Result
}

type pairOf struct{ a, b incarnation }

// An incarnation is one life of a rank.
type incarnation struct {
	rank int
	boot uint8 // from 1
}

// newCluster makes the world, the network and the checkers of a run. Everything is drawn from the seed.
func newCluster(o Options, log io.Writer) *cluster {
	c := &cluster{
		Options: o, world: sim.NewWorld(o.Seed), nodes: make([]*node, o.Nodes), boots: make([]uint8, o.Nodes),
		streams: map[flow]*stream{}, cursors: map[flow]*cursor{}, troubled: make([]bool, o.Nodes), paused: make([]bool,
			o.Nodes), deaths: map[pairOf]bool{},
	}
	c.world.Log = log
	c.net = sim.NewNetwork(c.world, sim.Crossbar(o.Nodes, sim.Wire{Delay: o.Delay}))
	c.net.Describe = wire.DescribePacket
	if o.Reliable {
		c.net.Describe = func(b []byte) string { return wire.Describe(b[1:]) }
	}
	c.checker = newCoordChecker(c)
	c.gang = newGang(c)
	return c
}

// fail ends the run.
func (c *cluster) fail(kind, format string, args ...any) {
	panic(&Violation{kind, c.world.Now(), fmt.Sprintf(format, args...)})
}

// patience is how long after the faults have stopped everything must be done.
const patience = 30 * time.Second

// run runs the nodes through trouble until their programs should be done, then mends the network and waits in
// virtual time until all operations have ended: nothing may hang. At last it compares what is left with the models.
func (c *cluster) run() {
	for rank := range c.Nodes {
		m := c.net.Machine(rank)
		m.Roomy = c.Reliable
		if c.Drift > 0 {
			m.Drift = int64(c.world.Rand.IntN(2*c.Drift+1) - c.Drift)
		}
		c.boot(rank)
	}
	span := c.Think*time.Duration(c.Ops) + 20*time.Millisecond + time.Duration(c.Severs)*outage
	c.checker.severs = c.Severs
	c.plan(span)
	c.until(sim.Time(span))
	c.makeCalm()
	c.wakeSilent()
	for end := c.world.Now().Add(patience); !c.quiet(); c.until(c.world.Now().Add(5 * time.Millisecond)) {
		if c.world.Now() > end {
			c.stuck()
		}
	}
	c.final()
}

// until lets the world run until a virtual time.
func (c *cluster) until(t sim.Time) {
	for c.world.Step(t) {
	}
}

// report fills the result with the figures of the world, of the network and of all nodes. The hash follows from
// every event of the run: two runs of a seed must have the same.
func (c *cluster) report(r *Result) {
	r.Hash = c.world.Hash()
	r.Time = c.world.Now()
	r.Events = c.world.Events()
	r.Network = c.net.Stats
	r.Deaths = len(c.deaths)
	for _, n := range c.nodes {
		if n != nil {
			c.count(n)
			n.recycle()
		}
	}
	r.Messages = c.result.Messages
	r.Operations = c.result.Operations
	r.Resent = c.result.Resent
	r.Refused = c.result.Refused
}

// count adds what a node has counted.
func (c *cluster) count(n *node) {
	s := n.eng.Stats()
	c.result.Messages += s.Msg.Received
	c.result.Operations += s.RMA.Served
	c.result.Resent += s.Sent.Resent
	c.result.Refused += s.Msg.Refused
}

// recycle gives buffers back, for the next run.
func (n *node) recycle() {
	selves.Put((*[1 << 16]byte)(n.self))
	for _, p := range n.ports {
		for _, r := range p.receivers {
			intos.Put((*[longest]byte)(r.into))
		}
	}
}
