package engine

import (
	"weft/failure"
	"weft/internal/counters"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Config is what a node must know of itself and its job.
type Config struct {
	Rank, Size  int
	Job         uint64
	Secret      []byte
	Incarnation uint64 // random, not 0
	Link        link.Config
	Rand        func() uint64  // for the keys of regions
	Agreement   link.Agreement // on the keys of encrypted frames

	// MaxQueue is how many frames may wait for one lossy peer before we stop
	// taking packets from it: most of them are answers to what it sent.
	// Default 1024.
	MaxQueue int

	// Counters is where the node counts. With nil it counts in memory of its own.
	Counters *counters.Page
}

// An Engine is the protocol of one rank.
type Engine struct {
	Msg   *msg.Layer
	RMA   *rma.Layer
	Coord *coord.Layer

	cfg     Config
	self    *link.Self
	peers   map[int]*peer
	last    *peer // the peer used last
	active  link.Active
	blocked []*link.Queue // their transports had no room
	denied  int           // of these, in front: no packet of theirs was taken
	wanted  []int         // ranks that must be dialled
	awaits  map[int]bool  // ranks of whose programs' ends the launcher must tell
	awaited []int         // of these, those of which the launcher does not know
	links   timers        // of peers that are watched
	gone    []int         // peers that have gone, in order

	departures   []Departure
	news         bool     // see News
	returned     bool     // the program has ended
	returnUntold []untold // and these do not know yet, or not all
	channels     []uint16
	watched      int // peers behind reliable transports that are

	dropped counters.Dropped // packets and frames that were refused
}

// A peer is another process, or this one.
type peer struct {
	rank      int
	q         *link.Queue
	mtu       int           // bytes of a packet, if there is no conn that says; 0: not connected
	conn      *link.Conn    // nil over a reliable transport
	asked     bool          // listed in wanted
	missed    bool          // packets of it came before we knew whether its network is trusted
	due       monotime.Time // in timers, like place
	place     int
	throttled bool   // its packets were refused for want of room in q
	stalled   []byte // the frame for which a mailbox has no room; nothing is taken before it
	gone      *failure.PeerError
	parted    bool       // it has said that it leaves: its link has still to acknowledge that
	departed  bool       // it is among the departures
	returned  bool       // its program has ended, and nothing of it comes any more
	told      bool       // it is told that this process's program has ended
	watched   bool       // by its pulse: it has no conn
	pulse     link.Pulse // of a peer behind a reliable transport
}

// maxBeyond is how many frames more may wait while the peer has stopped us. A peer
// that keeps to its own limits never has so many operations under way.
const maxBeyond = 4096

// New returns a node that knows no peers yet.
func New(cfg Config) *Engine {
	if cfg.MaxQueue == 0 {
		cfg.MaxQueue = 1024
	}
	if cfg.Counters == nil {
		cfg.Counters = counters.New()
	}
	cfg.Link = cfg.Link.WithDefaults()
	e := &Engine{
		cfg:   cfg,
		self:  link.NewSelf(cfg.Job, uint32(cfg.Rank), cfg.Incarnation, cfg.Secret),
		peers: map[int]*peer{}, awaits: map[int]bool{},
	}
	e.self.Agrees(cfg.Agreement)
	queue := func(rank int) *link.Queue { return e.peer(rank).q }
	e.Msg = msg.NewLayer(cfg.Rank, cfg.Size, queue)
	e.Msg.Await = e.await
	e.RMA = rma.NewLayer(queue, cfg.Rand)
	e.Coord = coord.NewLayer(cfg.Rank, cfg.Size, coord.Peers{Queue: queue, Want: e.Want, Raise: e.RMA.Raise})
	return e
}

// peer returns the state of a peer, which is made when first needed.
func (e *Engine) peer(rank int) *peer {
	p := e.known(rank)
	if p == nil {
		p = &peer{rank: rank, q: link.NewQueue(rank, &e.active)}
		p.q.Owner = p
		p.q.Counts = e.cfg.Counters.Peer(rank)
		p.q.Resume = func() { e.Msg.Resume(rank) }
		e.peers[rank] = p
	}
	e.last = p
	return p
}

// known returns a peer, or nil if there is none of that rank.
func (e *Engine) known(rank int) *peer {
	if p := e.last; p != nil && p.rank == rank {
		return p
	}
	return e.peers[rank]
}

// A Path is what the packets to a peer take.
type Path struct {
	MTU     int  // bytes of a packet
	Lossy   bool // the link layer must make it reliable
	Devices int  // over which packets are spread; 0 means 1

	// Of a lossy path:
	Guard       link.Guard // what protects packets in both directions
	Incarnation uint64     // of the peer
	Share       []byte     // of the peer in an Agreement, if packets are encrypted

	Lane  link.Lane // of a reliable one, if it takes packets without waiting for Output
	Beats bool      // a reliable one, which does not tell when a peer is stopped: signs of life are exchanged
}

// Connect says that packets for a peer can be sent from now on, and how. A peer that
// has left already still waits to be told that we know.
func (e *Engine) Connect(now monotime.Time, rank int, path Path) {
	p := e.peer(rank)
	if p.mtu != 0 || p.gone != nil && (!p.parted || p.conn == nil || !path.Lossy) {
		return
	}
	p.mtu = path.MTU
	p.q.Counts.State = counters.Connected
	p.q.Counts.MTU = uint64(path.MTU)
	if path.Lossy {
		e.link(now, p, path)
	} else {
		e.unlink(p)
		p.q.Lossy = false
		p.q.Through(path.Lane, path.MTU)
		if path.Beats {
			e.watch(now, p)
		}
	}
	if e.returned {
		e.tell(p)
		e.tellDone()
	}
	e.active.Add(p.q)
}

// link makes a path reliable.
func (e *Engine) link(now monotime.Time, p *peer, path Path) {
	if p.conn == nil {
		e.open(now, p, path.Incarnation)
	}
	p.q.Lossy = true
	p.conn.Guard(path.Guard)
	p.conn.Agree(path.Share)
	p.conn.Spread(max(path.Devices, 1))
	p.conn.Limit(now, path.MTU)
	p.q.Counts.MTU = uint64(p.conn.MTU())
	if p.missed {
		p.conn.Missed()
	}
}

// Resize says how long packets to a connected peer may be from now on. Packets that are
// under way keep their length. It does nothing where the path is reliable.
func (e *Engine) Resize(now monotime.Time, rank, mtu int) {
	if p := e.known(rank); p != nil && p.conn != nil && p.mtu != 0 && p.gone == nil {
		p.conn.Limit(now, mtu)
		e.links.sooner(p)
		e.active.Add(p.q)
	}
}

// MTU returns how long packets to a peer are at most, or 0 if it is not connected.
func (e *Engine) MTU(rank int) int {
	p := e.known(rank)
	switch {
	case p == nil || p.mtu == 0:
		return 0
	case p.conn != nil:
		return p.conn.MTU()
	default:
		return p.mtu
	}
}

// open starts the link of a lossy peer. From then on its silence is noticed.
func (e *Engine) open(now monotime.Time, p *peer, incarnation uint64) {
	p.conn = link.NewConn(&e.cfg.Link, e.self, uint32(p.rank), incarnation)
	p.conn.Count(p.q.Counts)
	p.conn.Await(now, true)
	e.links.add(p)
}

// unlink ends the link of a peer that is reached without one.
func (e *Engine) unlink(p *peer) {
	if p.conn != nil {
		e.links.remove(p)
		p.conn.End()
		p.conn = nil
	}
}

// Want makes sure that a peer will be dialled.
func (e *Engine) Want(rank int) {
	if p := e.peer(rank); p.mtu == 0 && p.gone == nil {
		e.want(p)
	}
}

// Gone returns why a peer is gone, or nil.
func (e *Engine) Gone(rank int) *failure.PeerError {
	if p := e.peers[rank]; p != nil {
		return p.gone
	}
	return nil
}

// Since says that packets which Recv is handed from now on may have come over a lossy
// transport at any time after t, when it was looked at last. Until then, and if t is
// Never, they come at the moment at which they are handed over.
func (e *Engine) Since(t monotime.Time) { e.self.Since(t) }

// Recv gets one of these in the place of a rank for a packet from a lossy transport, because the packet's header names
// the sender. Each says which guard the packet must have at least.
const (
	Unknown = -1 // a tag
	Trusted = -2 // a checksum: the network is trusted, no packets are forged there
	Private = -3 // they must be encrypted
)

// Down says that a peer is gone. Every operation that needs it ends with a
// PeerError; what arrived from it before stays.
func (e *Engine) Down(rank int, cause error, clean bool) {
	p := e.peer(rank)
	if p.gone != nil || rank == e.cfg.Rank {
		return
	}
	p.stalled = nil
	p.parted = p.parted || clean
	p.gone = &failure.PeerError{Rank: rank, Cause: cause, Clean: clean}
	if p.q.Counts.State = counters.Gone; clean {
		p.q.Counts.State = counters.Left
	}
	e.gone = append(e.gone, rank)
	e.news = true
	e.depart(p, p.gone)
	e.Msg.Down(rank, p.gone)
	e.RMA.Down(rank, p.gone)
	e.Coord.Down(rank, p.gone)
	p.q.Through(nil, 0)
	p.q.Clear()
	switch {
	case p.watched:
		p.watched = false
		e.watched--
		e.links.remove(p)
	case p.conn != nil:
		e.links.remove(p)
		p.conn.End()
	}
	if p.parted && p.conn != nil {
		p.conn.Farewell()
		e.active.Add(p.q)
	}
}

// Departed returns the peers that have gone so far, in order. The list only grows.
func (e *Engine) Departed() []int { return e.gone }

// Leave acknowledges everything that has been accepted, and tells every peer that it reaches that this process leaves:
// in good order, or because its program has failed, as the reason says. What a program holds that has failed is not
// handed on: peers treat that as a death. (PROTOCOL §5)
func (e *Engine) Leave(failed string) {
	e.Msg.Leave()
	if failed == "" {
		e.Coord.Leave()
	}
	why := []byte(failed[:min(len(failed), wire.MaxReason)])
	for _, rank := range e.ranks() {
		if p := e.peers[rank]; p.reached() && rank != e.cfg.Rank {
			p.q.PushLast(wire.Bye{Failed: failed != ""}.Append(p.q.Head()), why, false)
		}
	}
}

// reached reports whether a peer hears what is said to it now, by messages: it is connected, has been dialled,
// or there are frames for it. These wait for the path to a peer that has dialled this process and sent at once.
func (p *peer) reached() bool { return p.gone == nil && (p.mtu != 0 || p.asked || p.q.Len() > 0) }

// Detach makes the links stop borrowing the array of buf.
func (e *Engine) Detach(buf []byte) {
	for _, p := range e.links {
		if p.conn != nil {
			p.conn.Detach(buf)
		}
	}
}

// Timed reports whether the engine needs the time: it watches peers, or has
// timers. Without, it may be told any.
func (e *Engine) Timed() bool { return len(e.links) > 0 || e.Msg.Timed() || e.Coord.Timed() }

// Deadline returns when Advance has something to do.
func (e *Engine) Deadline() monotime.Time {
	if !e.Timed() {
		return monotime.Never
	}
	return e.links.next().Min(e.Msg.Deadline()).Min(e.Coord.Deadline())
}

// Advance does what is due.
func (e *Engine) Advance(now monotime.Time) {
	e.Msg.Advance(now)
	e.Coord.Advance(now)
	for e.links.next() <= now {
		p := e.links[0]
		if at := p.deadline(); at > now {
			e.links.later(at)
			continue
		}
		if e.advance(now, p) {
			e.Down(p.rank, errSilent, false)
			continue
		}
		e.links.later(max(p.deadline(), now+1))
	}
	if len(e.returnUntold) > 0 {
		e.tellDone()
	}
}
