package swarm

import (
	"bytes"
	"sync"
	"time"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/sim"
)

// A node is one incarnation of a rank: an engine, and a client that uses it.
type node struct {
	incarnation
	c   *cluster
	m   *sim.Machine
	eng *engine.Engine
	off bool // it has crashed

	silent   bool     // it computes; see silence.go
	unread   []unread // packets that it has not looked at
	full     float64  // of the batches find no room
	retrying bool
	packets  [16]link.Packet
	bulkAt   map[int]sim.Time // by rank: when the last packet of bulk leaves
	header   []byte
	wanted   []int
	self     []byte
	downs    int
	visits   int

	// The client; see client.go.
	left         int // operations still to begin
	pending      int // operations that have not ended
	beat         beat
	atDepth      bool // it has as many as it may
	ports        []*port
	area         *area
	remotes      []remote
	coord        *coordClient
	mailbox      *mailboxModel
	mailboxPeers []mailboxPeer
}

// selves holds buffers for packets to oneself, for run after run.
var selves = sync.Pool{New: func() any { return new([1 << 16]byte) }}

// boot starts a new incarnation of a rank.
func (c *cluster) boot(rank int) {
	c.boots[rank]++
	n := &node{
		incarnation: incarnation{rank, c.boots[rank]}, c: c, m: c.net.Machine(rank), full: c.Full,
		self: selves.Get().(*[1 << 16]byte)[:], left: c.Ops,
		remotes: make([]remote, c.Nodes), mailboxPeers: make([]mailboxPeer, c.Nodes),
		bulkAt: map[int]sim.Time{},
	}
	rand := c.world.Rand
	cfg := link.Config{
		Window: c.Window, Liveness: liveness, Selective: c.Selective > 0 && rank%c.Selective == 0,
		RTOInitial: 5 * time.Millisecond, RTOMin: 500 * time.Microsecond, RTOMax: 30 * time.Millisecond,
		PathRaise: pathRaise,
	}
	if c.Immortal {
		cfg.Liveness = -1
	}
	n.eng = engine.New(engine.Config{
		Rank: rank, Size: c.Nodes, Job: 7, Secret: []byte("swarm"), Incarnation: c.card(rank), Link: cfg,
		Rand: rand.Uint64, MaxQueue: c.MaxQueue,
	})
	n.m.Boot(n)
	c.nodes[rank] = n
	n.eng.Connect(n.m.Now(), rank, engine.Path{MTU: len(n.self)})
	n.start()
	n.flush()
}

// card returns the incarnation that a rank is dialled with: the present one, or the last.
// That of a rank that has not started yet is known, too.
func (c *cluster) card(rank int) uint64 { return uint64(rank+1)<<8 | uint64(max(c.boots[rank], 1)) }

// Packet hands the engine a packet that has arrived.
func (n *node) Packet(from int, b []byte) {
	if n.c.Reliable {
		if n.keep(from, b[0] != 0, b[1:]) {
			return
		}
		b = b[1:]
	} else {
		from = engine.From(n.c.Guard)
	}
	n.eng.Recv(n.m.Now(), from, b)
	n.flush()
}

// Timer lets the engine do what is due.
func (n *node) Timer() {
	n.catchUp()
	n.flush()
}

// later runs f after d, or when the machine goes on if it is paused then.
func (n *node) later(d time.Duration, f func()) {
	n.c.world.After(d, func() {
		switch {
		case n.off:
		case n.m.Paused():
			n.later(n.c.world.Between(time.Millisecond, 2*time.Millisecond), f)
		default:
			f()
			n.flush()
		}
	})
}

// flush does what a driver does: it lets the engine do what is due, sends what
// it has to send, ends the operations that it has finished, and sets the timer.
func (n *node) flush() {
	now := n.m.Now()
	if n.eng.Timed() && !now.Before(n.eng.Deadline()) {
		n.eng.Advance(now)
	}
	for {
		n.output(now)
		n.wanted = n.eng.Wanted(n.wanted[:0])
		for _, rank := range n.wanted {
			n.eng.Connect(now, rank, engine.Path{MTU: n.c.MTU, Lossy: !n.c.Reliable, Guard: n.c.Guard, Beats: n.c.Beats,
				Incarnation: n.c.card(rank)})
		}
		if !n.complete() && len(n.wanted) == 0 {
			break
		}
	}
	if n.eng.Blocked() && !n.retrying {
		n.retrying = true
		n.later(50*time.Microsecond, func() {
			n.retrying = false
			n.catchUp()
			n.eng.Retry()
		})
	}
	for _, rank := range n.eng.Departed()[n.downs:] {
		n.downs++
		n.checkDeath(rank)
	}
	for _, p := range n.ports {
		p.checkTurns()
	}
	for _, g := range n.coord.guarded {
		g.look(n)
	}
	if n.visits++; n.visits%32 == 0 {
		n.inspect()
	}
	n.m.SetTimer(n.eng.Deadline())
}

// output is the driver's part: it moves packets from the engine to the network until the engine has none. With a
// chance of n.full the transport takes only some of a batch, and the engine must offer the rest again.
func (n *node) output(now sim.Time) {
	rand := n.c.world
	for {
		rank, k, urgent := n.eng.Output(now, n.packets[:])
		if k == 0 {
			return
		}
		taken := k
		if rank == n.rank {
			n.loop(now)
			continue
		}
		if rand.Chance(n.full) {
			taken = rand.Rand.IntN(k + 1)
		}
		for _, p := range n.packets[:taken] {
			header := p.Header
			if n.c.Reliable { // the doorbell's part: whether the packet is worth ringing for
				n.header = append(append(n.header[:0], 0), header...)
				if header = n.header; urgent {
					header[0] = 1
				}
			}
			if n.c.Beats && p.Bulk {
				n.sendApart(rank, header, p.Payload)
				continue
			}
			n.c.net.Send(n.rank, rank, header, p.Payload)
		}
		n.eng.Taken(now, rank, k, taken, n.packets[:])
	}
}

// sendApart sends a packet by the connection for bulk, which TCP has: others overtake it.
func (n *node) sendApart(rank int, header, payload []byte) {
	w := n.c.world
	b := append(bytes.Clone(header), payload...)
	n.bulkAt[rank] = max(n.bulkAt[rank], w.Now().Add(w.Between(0, 300*time.Microsecond)))
	w.After(n.bulkAt[rank].Sub(w.Now()), func() {
		if !n.off {
			n.c.net.Send(n.rank, rank, b, nil)
		}
	})
}

// loop hands a packet to itself.
func (n *node) loop(now sim.Time) {
	size := copy(n.self, n.packets[0].Header)
	size += copy(n.self[size:], n.packets[0].Payload)
	n.eng.Taken(now, n.rank, 1, 1, n.packets[:])
	n.eng.Recv(now, n.rank, n.self[:size])
}

// complete hands each finished operation to the client that began it.
func (n *node) complete() (any bool) {
	for op := n.eng.Msg.Finished(); op != nil; op = n.eng.Msg.Finished() {
		any = true
		op.Owner.(func(*msg.Op))(op)
	}
	for op := n.eng.RMA.Finished(); op != nil; op = n.eng.RMA.Finished() {
		any = true
		op.Owner.(func(*rma.Op))(op)
	}
	for op := n.eng.Coord.Finished(); op != nil; op = n.eng.Coord.Finished() {
		any = true
		op.Owner.(func(*coord.Op))(op)
	}
	return any
}
