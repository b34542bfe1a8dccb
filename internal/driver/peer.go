package driver

import (
	"context"
	"sync"
	"sync/atomic"

	"weft/failure"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/transport"
)

// A Peer is another process as the driver knows it.
//
//	state      ready   Transport  gone, left
//	wanted     open    nil        nil         the engine has packets for it, or Reach waits
//	connected  closed  set        nil
//	returned   closed  any        left        its program has returned
//	gone       closed  any        both        it is dead, it has left, or this node is closing
//
//	from       event                                             to
//	wanted     dial succeeds, or the peer dials (connect)        connected
//	connected  its program returns (Returned)                    returned
//	any        Down, or a silence that the engine has noticed    gone
//	any        Quit                                              gone, with ErrClosed
type Peer struct {
	Rank      int
	Transport transport.Transport // nil until connected

	// Puts counts the Puts to the peer's memory. Settled counts the Puts that the peer is known to have carried out. An
	// operation that goes past the engine must not overtake the rest of them.
	Puts, Settled atomic.Uint64

	ways ways // of its long messages

	gone  atomic.Pointer[error]
	left  atomic.Pointer[error]
	ready chan struct{} // closed when connected or gone
	open  bool          // ready is still open
}

// A peerSet is the peers that this process has had to do with.
type peerSet struct {
	byRank map[int]*Peer
	last   *Peer    // the peer used last
	lost   sync.Map // ranks that are gone, as soon as that is known: the node may be busy
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

// peer returns what is known of a rank. The lock is held.
func (n *Node) peer(rank int) *Peer {
	if p := n.peers.last; p != nil && p.Rank == rank {
		return p
	}
	p := n.peers.byRank[rank]
	if p == nil {
		p = &Peer{Rank: rank, ready: make(chan struct{}), open: true}
		n.peers.byRank[rank] = p
		if n.life.closing.Load() {
			p.gone.Store(&errClosed)
			p.left.Store(&errClosed)
		}
	}
	n.peers.last = p
	return p
}

// isReady is closed: peers that are ready share it.
var isReady = make(chan struct{})

func init() { close(isReady) }

// connected wakes the goroutines in Reach. The lock is held.
func (n *Node) connected(p *Peer) {
	if p.open {
		p.open = false
		close(p.ready)
		p.ready = isReady
	}
}

// connect says that a peer can be reached. A peer that was stopped may count as dead when
// it goes on and dials: it is told so, since nothing that it sends is accepted any more.
func (n *Node) connect(rank int, r Route) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peer(rank)
	if n.life.closed {
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
	n.eng.Connect(n.now(), rank, engine.Path{
		MTU: r.Transport.PeerMTU(rank), Lossy: !caps.Reliable, Guard: r.Guard, Devices: caps.Devices,
		Incarnation: r.Incarnation, Share: r.Share, Beats: caps.Beats, Lane: lane(r.Transport, rank),
	})
	n.flush(n.clock())
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

// Down says that a peer is gone. What it sent before is received first.
func (n *Node) Down(rank int, cause error, clean bool) {
	n.peers.lost.Store(rank, true)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	n.drain()
	n.peer(rank)
	if !clean && n.eng.Gone(rank) == nil {
		n.fail(rank, cause.Error())
	}
	n.eng.Down(rank, cause, clean)
	n.markGone()
	n.flush(n.clock())
}

// Reach connects to a rank if that has not been done, and waits until it has.
func (n *Node) Reach(ctx context.Context, rank int) (*Peer, error) {
	ctx = Endless(ctx)
	n.turn()
	n.mu.Lock()
	if n.life.closing.Load() {
		n.mu.Unlock()
		return nil, failure.ErrClosed
	}
	p := n.peer(rank)
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

// Gone returns why a rank is gone, or nil.
func (n *Node) Gone(rank int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.GoneLocked(rank)
}

// GoneLocked is Gone for a caller that holds the node's lock, in Recover.
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
	return n.peers.byRank[rank]
}

// Path returns how long packets to a rank are at most now, and what its transport tells of
// the path that they take.
func (n *Node) Path(rank int) (mtu int, path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers.byRank[rank]; p != nil && p.Transport != nil {
		path = p.Transport.Path(rank)
	}
	return n.eng.MTU(rank), path
}

// Peers returns the peers spoken to so far, in no order.
func (n *Node) Peers() []*Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	peers := make([]*Peer, 0, len(n.peers.byRank))
	for _, p := range n.peers.byRank {
		if p.Transport != nil || p.Rank == n.cfg.Engine.Rank {
			peers = append(peers, p)
		}
	}
	return peers
}
