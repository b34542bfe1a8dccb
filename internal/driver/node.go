package driver

import (
	"time"

	"weft/internal/counters"
	"weft/internal/driver/duty"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// Config is what a Node needs besides its transports.
type Config struct {
	Engine engine.Config

	// Route finds out how a rank is reached. It may block; it is called once per peer.
	Route func(rank int) (Route, error)

	// Await makes the launcher tell, by Returned, when the program of a rank has returned; -1 stands for all ranks. It
	// may block; it is called once for each. Nil: nothing tells.
	Await func(rank int)

	// Least returns the weakest guard that packets which arrive by a lossy transport may
	// have; nil means Tagged.
	Least func(transport.Caps) link.Guard

	// Wait says how goroutines wait.
	Wait Waiting

	// Timeline gets what the node does and when, if it is not nil.
	Timeline *timeline.Recorder

	// Host is the simulated machine on which the node runs; nil on a real one.
	Host Host
}

// A Route says how a peer is reached.
type Route struct {
	Transport   transport.Transport
	Card        string     // of the peer, for Transport.Dial
	Incarnation uint64     // of the peer: which start of this rank it is. A link needs it
	Guard       link.Guard // what protects the packets of a link
	Share       []byte     // of the peer, if they are encrypted: see link.Agreement
}

// A Node is one process of a job: an engine, its transports, and the goroutines that wait
// for it. Its state is made of parts, each of which is declared, with its transitions, in
// the file that changes it. All but atomic fields are used under mu only.
type Node struct {
	cfg        Config
	start      time.Time // when the node was made: time 0
	bell       transport.Doorbell
	transports transportSet

	mu       interleave.Mutex
	eng      *engine.Engine
	timeline *timeline.Recorder // nil if nothing is noted; see timeline.go
	stats    stats              // what other processes may read; see counters.go

	life       lifecycle  // see close.go
	peers      peerSet    // see peer.go
	departures departures // see departures.go

	duty    duty.Roster   // which goroutine looks for packets and timers
	waiting waiting       // goroutines that wait for calls; see waiting.go
	service service       // the goroutine that wakes when no other does; see serve.go
	company company       // other goroutines that use the node; see company.go
	memory  memoryWaits   // goroutines that wait for memory to change; see poll.go
	cached  cachedCalls   // see call.go
	notices noticesByPort // see notify.go

	straight  straight  // see straight.go
	receiving receiving // see progress.go
	sending   sending   // see progress.go
	scratch   scratch   // see progress.go

	deadlines map[int64]monotime.Time // of contexts, on a Host; see hosted.go
}

// noticesByPort holds the calls that tell when there is something to receive.
type noticesByPort map[*msg.Port]*Call

// A transportSet is the transports of a node, and what they have in common.
type transportSet struct {
	all     []transport.Transport
	lossy   bool // one of them loses packets, so the engine needs the time
	network bool // one of them is a network: to look for packets takes a system call
	memory  []transport.Memory
	unknown []int // what the engine is told of the sender of an unmarked packet, by transport
}

// New returns a node. Its transports are opened with its Events, and then
// given to Start.
func New(cfg Config) *Node {
	if cfg.Engine.Counters == nil {
		cfg.Engine.Counters = counters.New()
	}
	n := &Node{cfg: cfg, start: time.Now(), timeline: cfg.Timeline}
	n.peers.byRank = map[int]*Peer{}
	n.waiting.budget = cfg.Wait.Budget
	n.waiting.lookTime = firstLook
	n.duty.NoPolling = cfg.Wait.Interrupt
	n.duty.NoSleeping = cfg.Wait.Interrupt || cfg.Wait.InProcess
	n.duty.Enough = interleave.Brief(enough)
	n.duty.Until(monotime.Never)
	n.service.done = make(chan struct{})
	n.service.nudge = make(chan struct{}, 1)
	n.service.timer = interleave.NewTimer()
	n.stats.page = cfg.Engine.Counters
	if cfg.Host == nil {
		n.stats.epoch = n.start.UnixNano()
	}
	n.eng = engine.New(cfg.Engine)
	n.eng.RMA.Admit = n.admit
	return n
}

// Start runs the node on transports that have been opened. Peers in shared memory ring
// the doorbell.
func (n *Node) Start(bell transport.Doorbell, transports ...transport.Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bell = bell
	n.transports.all = transports
	for i, t := range transports {
		n.addTransport(i, t.Caps())
	}
	for _, p := range n.peers.byRank { // that dialled before Start
		n.show(p)
	}
	self := n.peer(n.cfg.Engine.Rank)
	n.connected(self)
	n.eng.Connect(n.now(), self.Rank, engine.Path{MTU: 1 << 16})
	if n.cfg.Host != nil {
		close(n.service.done) // the host calls Tick
		return
	}
	interleave.Go(n.serve)
}

// addTransport takes note of what the i-th transport can do.
func (n *Node) addTransport(i int, caps transport.Caps) {
	if i < counters.MaxTransports {
		n.stats.page.Node.Transports[i].Name(caps.Name)
	}
	set := &n.transports
	set.lossy = set.lossy || !caps.Reliable
	set.network = set.network || !caps.Reliable || caps.Beats
	if m := n.transports.all[i].Memory(); m != nil {
		set.memory = append(set.memory, m)
	}
	n.straight.lookAt(n.transports.all[i], n.cfg.Wait)
	least := link.Tagged
	if n.cfg.Least != nil {
		least = n.cfg.Least(caps)
	}
	set.unknown = append(set.unknown, engine.From(least))
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

// clock returns the time for the engine. The engine needs it only for lossy links and for
// timers that are running; otherwise clock returns 0, since to read the clock costs as much
// as to send a message.
func (n *Node) clock() monotime.Time {
	if n.transports.lossy || n.eng.Timed() {
		return n.now()
	}
	return 0
}

// Engine gives f the engine under the node's lock, to look at it.
func (n *Node) Engine(f func(e *engine.Engine)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.eng)
}

// Counts returns what the transports have counted.
func (n *Node) Counts() (c counters.Local) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.transports.all {
		c.Add(t.Counts())
	}
	return c
}
