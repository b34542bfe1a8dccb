package driver

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"weft/internal/counters"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/record"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// batch is how many packets are received or sent at a time.
const batch = 64

// Config is what a Node needs besides its transports.
type Config struct {
	Engine engine.Config

	// Route finds the way to a rank. It may block; it is called once per peer.
	Route func(rank int) (Route, error)

	// Least returns the weakest guard that packets may have that come over a lossy
	// transport; nil means Tagged.
	Least func(transport.Caps) link.Guard

	// Wait says how goroutines wait.
	Wait Waiting

	// Record gets what goes into the engine, if it is not nil; see package tape.
	Record io.Writer

	// Timeline gets what the node does and when, if it is not nil.
	Timeline *timeline.Recorder

	// Host is the machine where there is no real one, and nil where there is.
	Host Host
}

// A Route is the way to a peer.
type Route struct {
	Transport   transport.Transport
	Card        string
	Incarnation uint64     // of the rank: a link needs it
	Guard       link.Guard // what protects the packets of a link
}

// A Node is one process of a job: an engine, its transports, and the
// goroutines that wait for it.
type Node struct {
	cfg   Config
	bell  transport.Doorbell
	start time.Time
	trs   []transport.Transport
	timed bool // some transport is lossy, so the engine needs the time
	wired bool // some transport is a network: to look for packets takes a system call

	// What the engine is told about packets of unknown origin, by transport.
	unknown []int

	closing atomic.Bool // nothing new is begun; see close.go

	mu       interleave.Mutex
	eng      *engine.Engine
	tape     *record.Tape       // nil unless what goes into eng is recorded
	timeline *timeline.Recorder // nil unless what is done is noted; see timeline.go
	peers    map[int]*Peer
	last     *Peer // the peer used last
	closed   bool  // for good; see close.go
	downs    int   // deaths that peers show

	departed atomic.Int32  // departures that peers show
	news     chan struct{} // closed at the next; nil if nobody waits
	written  chan struct{} // closed when a peer has asked for memory here; nil if nobody waits

	spare *Call // for the next receive
	idle  *Call // for the next operation of coordination

	notices map[*msg.Port]*Call // that tell when there is something to receive; see notify.go

	// Waiting; see wait.go.
	reaper     *Call         // whose goroutine polls, or nil
	reaped     uint64        // how often one has
	sleeper    *Call         // whose goroutine sleeps on the doorbell, or nil
	waits      []*Call       // whose goroutines have not polled only
	parked     int           // goroutines that sleep, the sleeper among them
	rousing    int           // goroutines that have been woken and have not taken the lock yet
	rung       bool          // among them whoever sleeps on the doorbell
	ops        uint64        // operations begun
	knocking   atomic.Int32  // goroutines that want to begin an operation, and wait for the lock
	company    atomic.Int32  // for how many waits more others of this process are let run first
	eager      atomic.Int64  // ns to poll next time for what no packet tells; 0: the budget
	sleepUntil monotime.Time // when whoever is on duty will wake by itself
	serveUntil monotime.Time // the same of the service, while it sleeps on the doorbell; else 0
	retrying   bool          // and offer packets again that found no room
	paused     bool          // there is more to send, and room for it
	budget     time.Duration // for reaping before parking
	cancels    context.Context
	forget     func() bool // stops cancels from ringing the doorbell

	// The service; see serve.go.
	served   chan struct{}     // closed when it has ended
	watching bool              // it is in look
	serving  bool              // it sleeps on the doorbell
	lookAt   monotime.Time     // when it will look again
	nudge    chan struct{}     // ends a watch
	owing    bool              // others may want what we keep and do not use
	freed    uint64            // reaped, when that was last so
	timer    *interleave.Timer // so does this

	// On a host; see hosted.go.
	deadlines map[int64]monotime.Time // of contexts, by their real ones

	// Scratch memory, used under mu.
	in      [batch]transport.In
	out     [batch]transport.Out
	packets [batch]link.Packet
	wanted  []int
	self    []byte

	glanced monotime.Time // when transports were looked at last
	told    monotime.Time // the time before that, if packets have come since

	sent uint64 // packets that transports have taken

	// What others may see; see counters.go.
	page     *counters.Page
	epoch    int64         // Unix time in ns at time 0
	lookTime time.Duration // that a look takes, in parts of a ns
	updateAt monotime.Time
	memoryAt monotime.Time
	held     atomic.Uint64 // bytes
}

// A Peer is another process as the driver knows it.
type Peer struct {
	Rank      int
	Transport transport.Transport // nil until connected

	gone  atomic.Pointer[error]
	left  atomic.Pointer[error] // the same, or its program has returned
	ready chan struct{}         // closed when connected or gone
	open  bool                  // ready is still open
}

// Gone returns why nothing can be done with the peer any more, or nil: it is gone,
// or this node is closing. Any goroutine may call it.
func (p *Peer) Gone() error {
	if g := p.gone.Load(); g != nil {
		return *g
	}
	return nil
}

// Left returns why nothing should be sent to the peer any more: it is gone, or its program
// has returned. Any goroutine may call it.
func (p *Peer) Left() error {
	if g := p.left.Load(); g != nil {
		return *g
	}
	return nil
}

// New returns a node. Its transports are opened with its Events, and then
// given to Start.
func New(cfg Config) *Node {
	if cfg.Engine.Counters == nil {
		cfg.Engine.Counters = counters.New()
	}
	n := &Node{
		cfg: cfg, start: time.Now(), timeline: cfg.Timeline,
		peers: map[int]*Peer{}, served: make(chan struct{}),
		budget: cfg.Wait.Budget, sleepUntil: monotime.Never,
		nudge: make(chan struct{}, 1), timer: interleave.NewTimer(),
		page: cfg.Engine.Counters, lookTime: firstLook,
	}
	if cfg.Host == nil {
		n.epoch = n.start.UnixNano()
	}
	if cfg.Record != nil {
		n.eng, n.tape = record.New(cfg.Record, cfg.Engine)
	} else {
		n.eng = engine.New(cfg.Engine)
	}
	return n
}

// Start runs the node on transports that have been opened. The doorbell is the
// one that peers in shared memory ring.
func (n *Node) Start(bell transport.Doorbell, trs ...transport.Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bell, n.trs = bell, trs
	for i, t := range trs {
		caps := t.Caps()
		if i < counters.MaxTransports {
			n.page.Node.Transports[i].Name(caps.Name)
		}
		n.timed = n.timed || !caps.Reliable
		n.wired = n.wired || !caps.Reliable || caps.Beats
		least := link.Tagged
		if n.cfg.Least != nil {
			least = n.cfg.Least(caps)
		}
		n.unknown = append(n.unknown, engine.From(least))
	}
	for _, p := range n.peers { // that were quicker
		n.show(p)
	}
	self := n.peer(n.cfg.Engine.Rank)
	n.connected(self)
	n.join(self.Rank, engine.Path{MTU: 1 << 16})
	if n.cfg.Host != nil {
		close(n.served) // the host calls Tick
		return
	}
	interleave.Go(n.serve)
}

// Events returns what the transport that t yields must tell the node. The
// transport need not exist yet.
func (n *Node) Events(t func() transport.Transport) transport.Events {
	return transport.Events{
		Up:   func(rank int) { n.connect(rank, Route{Transport: t()}) },
		Down: func(rank int, cause error) { n.Down(rank, cause, false) },
	}
}

// now reads the clock.
func (n *Node) now() monotime.Time {
	if n.cfg.Host != nil {
		return n.cfg.Host.Now()
	}
	return monotime.Time(interleave.Since(n.start))
}

// Now returns the time since the node was made, or since a simulation began.
func (n *Node) Now() time.Duration { return time.Duration(n.now()) }

// clock returns the time for the engine, which needs it only for lossy links
// and for timers that are running: reading it costs as much as a message.
func (n *Node) clock() monotime.Time {
	if n.timed || n.eng.Timed() {
		return n.now()
	}
	return 0
}

// peer returns what is known of a rank. The lock is held.
func (n *Node) peer(rank int) *Peer {
	if p := n.last; p != nil && p.Rank == rank {
		return p
	}
	p := n.peers[rank]
	if p == nil {
		p = &Peer{Rank: rank, ready: make(chan struct{}), open: true}
		n.peers[rank] = p
		if n.closing.Load() {
			p.gone.Store(&errClosed)
			p.left.Store(&errClosed)
		}
	}
	n.last = p
	return p
}

// isReady is closed: peers that are ready share it.
var isReady = make(chan struct{})

func init() { close(isReady) }

func (n *Node) connected(p *Peer) {
	if p.open {
		p.open = false
		close(p.ready)
		p.ready = isReady
	}
}

// connect says that a peer can be reached. One that counts as dead, because it was stopped
// when it was dialled, and that dials now, is told so: nothing of it is taken any more.
func (n *Node) connect(rank int, r Route) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peer(rank)
	if n.closed {
		return
	}
	if g := n.eng.Gone(rank); g != nil && !g.Clean {
		r.Transport.Forget(rank)
		return
	}
	if p.Transport != nil {
		return
	}
	p.Transport = r.Transport
	n.show(p)
	n.connected(p)
	caps := r.Transport.Caps()
	n.join(rank, engine.Path{MTU: r.Transport.PeerMTU(rank), Lossy: !caps.Reliable, Guard: r.Guard, Devices: caps.Devices, Incarnation: r.Incarnation, Beats: caps.Beats, Lane: lane(r.Transport, rank)})
	n.flush(n.clock())
}

// join tells the engine that a peer can be reached.
func (n *Node) join(rank int, path engine.Path) {
	now := n.now()
	if n.tape != nil {
		path.Lane = n.tape.Lane(path.Lane)
		n.tape.Connect(now, rank, path)
	}
	n.eng.Connect(now, rank, path)
}

// lane returns the lane to a peer, or nil.
func lane(t transport.Transport, rank int) link.Lane {
	if l := t.Lane(rank); l != nil {
		return l
	}
	return nil
}

// dial connects to a peer that the engine has packets for.
func (n *Node) dial(rank int) {
	route, err := n.cfg.Route(rank)
	if err == nil {
		err = route.Transport.Dial(rank, route.Card)
	}
	if err != nil {
		n.Down(rank, err, false)
		return
	}
	n.connect(rank, route)
}

func (n *Node) down(rank int, cause error, clean bool) {
	if n.tape != nil {
		n.tape.Note(record.Event{Do: "down", Rank: rank, Name: cause.Error(), OK: clean})
	}
	n.eng.Down(rank, cause, clean)
}

// Down says that a peer is gone. What it sent before is received first.
func (n *Node) Down(rank int, cause error, clean bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.drain()
	n.peer(rank)
	if !clean && n.eng.Gone(rank) == nil {
		n.fail(rank, cause.Error())
	}
	n.down(rank, cause, clean)
	n.markGone()
	n.flush(n.clock())
}

// Reach connects to a rank if that has not been done, and waits until it has.
func (n *Node) Reach(ctx context.Context, rank int) (*Peer, error) {
	n.turn()
	n.mu.Lock()
	if n.closing.Load() {
		n.mu.Unlock()
		return nil, link.ErrClosed
	}
	p := n.peer(rank)
	n.tape.Step("want", 0, rank)
	n.eng.Want(rank)
	n.flush(n.clock())
	ready := p.ready
	n.mu.Unlock()
	if n.cfg.Host != nil {
		if err := n.pollHosted(ctx, func() bool { return !p.open }); err != nil {
			return nil, err
		}
	}
	select {
	case <-ready: // also when the node is closed
		return p, p.Gone()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Engine gives f the engine under the node's lock, to look at it.
func (n *Node) Engine(f func(e *engine.Engine)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.eng)
}

// Gone returns why a rank is gone, or nil.
func (n *Node) Gone(rank int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.GoneLocked(rank)
}

// GoneLocked is Gone for those who hold the node's lock, in Recover.
func (n *Node) GoneLocked(rank int) error {
	if g := n.eng.Gone(rank); g != nil {
		return g
	}
	return nil
}

// Peer returns what is known of a rank, or nil.
func (n *Node) Peer(rank int) *Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.peers[rank]
}

// Way returns how long packets to a rank are at most now, and what its transport tells of
// the way to it.
func (n *Node) Way(rank int) (mtu int, way string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[rank]; p != nil && p.Transport != nil {
		way = p.Transport.Way(rank)
	}
	return n.eng.MTU(rank), way
}

// Counts returns what the transports have counted.
func (n *Node) Counts() (c transport.Counts) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.trs {
		c.Add(t.Counts())
	}
	return c
}

// Peers returns the peers spoken to so far, in no order.
func (n *Node) Peers() []*Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	peers := make([]*Peer, 0, len(n.peers))
	for _, p := range n.peers {
		if p.Transport != nil || p.Rank == n.cfg.Engine.Rank {
			peers = append(peers, p)
		}
	}
	return peers
}
