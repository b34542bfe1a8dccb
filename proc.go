package weft

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/counters/directory"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/timeline"
	"weft/internal/transport"
	"weft/internal/transport/eth"
)

// A Proc is this process as a member of its job. Everything that a program
// does with weft hangs on it; there is no global state.
type Proc struct {
	job      bootstrap.Job
	cfg      Config
	src      bootstrap.Source
	node     *driver.Node
	wait     driver.Waiting
	trs      []transport.Transport
	memory   transport.Memory   // for memory that peers can map; may be nil
	poll     *doorbell.Poll     // the doorbell, if it is ours and not that of shared memory
	eth      *eth.Transport     // or nil
	noEth    string             // why there is no raw Ethernet
	record   io.WriteCloser     // gets what goes into the engine; may be nil
	trace    *tracer            // counts what is sent; may be nil
	timeline *timeline.Recorder // gets what is done and when; may be nil
	amt      *amtRings          // the receive rings that we are told to have; may be nil
	again    int                // how often the job has been started again
	page     *directory.File    // what others see of what is counted; may be nil
	life     uint64             // this process's incarnation: random, so that no other has the same
	ctx      context.Context    // ends when the Proc is closed
	cancel   context.CancelFunc

	segment string // the address of UDP and TCP in its network, such as 10.0.0.1/24

	mu      sync.Mutex
	closed  bool
	shares  []share // shared memory of ours, by address
	ports   map[*msg.Port]*Port
	routes  map[int]route
	words   map[*wordWait]bool
	signals map[*signalWait]bool

	regions   map[uint32]*Region // that are exposed, by number
	mailboxes map[*Mailbox]bool
	ways      map[wayID]*way // to the mailboxes of others
	sweep     int            // of so many ways it is looked which mailboxes are closed

	barriers map[uint64]*sharedBarrier                // by what their names are in events
	flights  func(from int, to []int) []time.Duration // of events, where that is known
}

// A route is how a rank is reached, and why so.
type route struct {
	host, why string
	guard     guard
}

const (
	whyShm = "same host, so shared memory"
	whyTCP = "-transport tcp was asked for"
)

// Rank returns this process's number in the job, from 0 to Size()-1.
func (p *Proc) Rank() int { return p.job.Rank }

// Size returns the number of ranks in the job.
func (p *Proc) Size() int { return p.job.Size }

// Restarts returns how often weft run -restart has started the job again after a rank had failed: 0 in the first run.
func (p *Proc) Restarts() int { return p.again }

// Host returns the name of the host. Ranks with equal names may share memory.
func (p *Proc) Host() string { return p.job.Host }

// Simulated reports whether the process runs in a simulation, in virtual time: see Simulate. What starts
// goroutines by itself needs to know.
func (p *Proc) Simulated() bool { return p.node.Hosted() }

// check returns a RankError unless rank is one of the job's.
func (p *Proc) check(rank int) error {
	if rank < 0 || rank >= p.job.Size {
		return &RankError{rank, p.job.Size}
	}
	return nil
}

// newProc makes the process of a source, with a node that has no transports.
func newProc(cfg *Config, src bootstrap.Source) (*Proc, error) {
	c, err := cfg.resolve(src.Job())
	if err != nil {
		return nil, err
	}
	p := &Proc{job: src.Job(), cfg: c, src: src, ports: map[*msg.Port]*Port{}, routes: map[int]route{}, words: map[*wordWait]bool{}, signals: map[*signalWait]bool{}, barriers: map[uint64]*sharedBarrier{}, mailboxes: map[*Mailbox]bool{}, regions: map[uint32]*Region{}, ways: map[wayID]*way{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// newNode makes the node that runs the process.
func (p *Proc) newNode(find func(rank int) (driver.Route, error), w driver.Waiting) {
	p.wait = w
	p.node = driver.New(driver.Config{
		Engine: p.engine(random), Route: find, Least: p.cfg.leastGuard, Wait: w, Record: p.record, Timeline: p.timeline,
	})
}

// engine returns what the engine must know, with a source of chance.
func (p *Proc) engine(random func() uint64) engine.Config {
	p.life = random() | 1
	return engine.Config{
		Rank: p.job.Rank, Size: p.job.Size, Job: p.job.ID, Secret: p.job.Secret,
		Incarnation: p.life, Link: p.cfg.link(), Rand: random, Counters: p.counters(),
	}
}

// random returns an unpredictable number: region keys and incarnations.
func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Now returns the time since some moment before the process joined. It never
// goes back. In a simulation it is virtual time, in which computing takes none:
// measure with it rather than with package time.
func (p *Proc) Now() time.Duration { return p.node.Now() }

// Sleep lets d pass, or less if ctx ends. In a simulation it is how a program
// says that it computes.
func (p *Proc) Sleep(ctx context.Context, d time.Duration) error {
	if p.node.Hosted() {
		return waited(public(p.node.SleepHosted(ctx, d)), "sleep", "")
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return waited(ctx.Err(), "sleep", "")
	}
}

// A Peer tells how a rank is reached.
type Peer struct {
	Rank      int
	Host      string
	Transport string // "self", "pipe", "shm", "eth", "udp" or "tcp"
	Why       string // why that one was picked
	Path      string // between hosts: the path of the packets, whether they travel in batches, and what is odd about it
	MTU       int    // longest packet in bytes; it follows the path
	Guard     string // GuardChecksum, GuardAuthenticate or GuardEncrypt; empty where there is no network
	WhyGuard  string // why that one was picked
	Guards    string // what packets on the way are guarded against; see docs/SECURITY.md
	Gone      error  // a PeerError if it is gone
}

// Connect reaches a rank now rather than with the first message, and says how.
func (p *Proc) Connect(ctx context.Context, rank int) (Peer, error) {
	if err := p.check(rank); err != nil {
		return Peer{}, err
	}
	peer, err := p.node.Reach(ctx, rank)
	if err != nil {
		return Peer{}, waited(public(err), fmt.Sprintf("connection to rank %d", rank), "the rank has not been reached yet")
	}
	return p.peer(peer), nil
}

// Peers returns the ranks spoken to so far, this one included, in order.
func (p *Proc) Peers() []Peer {
	var peers []Peer
	for _, d := range p.node.Peers() {
		peers = append(peers, p.peer(d))
	}
	sort.Slice(peers, func(i, j int) bool { return peers[i].Rank < peers[j].Rank })
	return peers
}

func (p *Proc) peer(d *driver.Peer) Peer {
	mtu, path := p.node.Path(d.Rank)
	if d.Rank == p.job.Rank {
		return Peer{Rank: d.Rank, Host: p.job.Host, Transport: "self", Why: "it is this process", MTU: mtu}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.routes[d.Rank]
	if !ok { // the peer dialled us, and only peers on the same host do so
		r = route{host: p.job.Host, why: whyShm}
	}
	caps := d.Transport.Caps()
	return Peer{
		Rank: d.Rank, Host: r.host, Transport: caps.Name, Why: r.why, Path: path, MTU: mtu, Gone: public(d.Gone()),
		Guard: r.guard.String(), WhyGuard: r.guard.why, Guards: r.guard.against(caps),
	}
}

// Stats counts what a process has seen and holds.
type Stats struct {
	MessagesSent, MessagesReceived uint64
	PacketsSent, PacketsReceived   uint64
	BytesSent, BytesReceived       uint64 // in packets; direct memory access is not counted

	EventsSent    uint64 // of coordination: locks, barriers and so on
	Refused       uint64 // messages refused for lack of room, and resent later
	Retransmitted uint64 // packets that a network had lost
	Dropped       uint64 // packets not accepted: malformed, foreign, forged, replayed, stale

	Malformed, Foreign, Forged, Replayed, Stale uint64 // Dropped by reason

	// Of packets to and from other hosts.
	Batches   uint64 // system calls that sent several packets as one, for the kernel to cut
	Uncut     uint64 // of those, the ones that the kernel refused: their packets went singly
	Switched  uint64 // times that batches to a peer were switched off, since they did not arrive
	Shortened uint64 // times that packets to a peer were cut shorter, since the path lost long ones
	Overflows uint64 // datagrams lost, as the receive buffer was full
	Truncated uint64 // datagrams lost, as they were longer than any should be
	Unsent    uint64 // packets lost, as the kernel would not send them; Peer.Path tells why

	RoundTrip   time.Duration // the longest smoothed round trip of the lossy links
	MemoryBytes uint64        // held by ports, regions, mailboxes, Alloc and transports
	MappedBytes uint64        // of that of other ranks on this host, what is mapped here
}

// Stats returns the counts so far.
func (p *Proc) Stats() Stats {
	var e engine.Stats
	var held uint64
	p.node.Engine(func(eng *engine.Engine) {
		e = eng.Stats()
		held = uint64(eng.Msg.MemoryBytes())
	})
	c := p.node.Counts()
	p.mu.Lock()
	if !p.closed {
		for _, t := range p.trs {
			held += t.MemoryBytes()
		}
	}
	for _, s := range p.shares {
		held += uint64(len(s.Bytes))
	}
	p.mu.Unlock()
	var mapped uint64
	if p.memory != nil {
		mapped = p.memory.Mapped()
	}
	return Stats{
		MessagesSent: e.Msg.Sent, MessagesReceived: e.Msg.Received,
		PacketsSent: e.PacketsSent, PacketsReceived: e.PacketsReceived,
		BytesSent: e.BytesSent, BytesReceived: e.BytesReceived,
		EventsSent: e.Coord.Sent, Refused: e.Msg.Refused, Retransmitted: e.Link.Resent,
		Dropped:   e.Malformed + e.Foreign + e.Forged + e.Replayed + e.Stale,
		Malformed: e.Malformed, Foreign: e.Foreign, Forged: e.Forged, Replayed: e.Replayed, Stale: e.Stale,
		Batches: c.Batches, Uncut: c.Uncut, Switched: c.Switched, Shortened: e.Link.Shortened,
		Overflows: c.Overflows, Truncated: c.Truncated, Unsent: c.Refused,
		RoundTrip: e.Link.RTT, MemoryBytes: held, MappedBytes: mapped,
	}
}

// closePatience is how long Close waits for what is still on its way.
const closePatience = time.Second

// Close leaves the job. First it waits until the receivers of what was sent have
// accepted it, for as long as they go on doing so; if for a second none does, what is
// left is lost, and Close returns an [UndeliveredError]. Operations of other goroutines
// that are begun after it, or have not ended when it returns, return ErrClosed. Memory of
// regions and from Alloc can still be read and written without harm, but nobody sees it.
func (p *Proc) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	// In an order that does not depend on chance, for the simulator's sake.
	ports := slices.SortedFunc(maps.Values(p.ports), func(a, b *Port) int { return cmp.Compare(a.channel, b.channel) })
	mailboxes := slices.SortedFunc(maps.Keys(p.mailboxes), func(a, b *Mailbox) int { return cmp.Compare(a.name, b.name) })
	barriers, ways := maps.Clone(p.barriers), maps.Clone(p.ways)
	p.mu.Unlock()
	p.node.Quit()
	lost := undelivered(p.node.Drain(closePatience))
	for _, m := range mailboxes {
		m.Close()
	}
	for _, w := range ways {
		w.leave()
	}
	for _, q := range ports {
		q.Close()
	}
	for _, b := range barriers {
		b.leave()
	}
	p.node.Close(closePatience)
	p.cancel()
	var recorded error
	if p.record != nil {
		recorded = p.record.Close()
	}
	p.closeTransports()
	p.hideCounters()
	return errors.Join(lost, recorded, p.endTrace(), p.endTimeline(), p.src.Close())
}
