package weft

import (
	"context"
	"fmt"
	"sort"

	"weft/failure"
	"weft/internal/driver"
)

// A route is how a rank is reached, and why so.
type route struct {
	host, why string
	guard     guard
}

const (
	whyShm = "same host, so shared memory"
	whyTCP = "-transport tcp was asked for"
)

// A Peer describes how a rank is reached.
type Peer struct {
	Rank      int
	Host      string
	Transport Transport // never TransportAuto
	Why       string    // why this transport was chosen
	Path      string    // between hosts: the path of the packets, whether they travel in batches, and what is odd about it
	MTU       int       // longest packet in bytes; it follows the path MTU
	Guard     Guard     // GuardChecksum, GuardAuthenticate or GuardEncrypt; empty where there is no network
	WhyGuard  string    // why this guard was chosen
	Guards    string    // the dangers that packets to it are protected from; see docs/SECURITY.md
	Gone      error     // a PeerError if the rank is gone, else nil
}

// Connect connects to a rank now rather than with the first message, waits until that is
// done, and returns how the rank is reached.
func (p *Proc) Connect(ctx context.Context, rank int) (Peer, error) {
	if err := p.check(rank); err != nil {
		return Peer{}, err
	}
	peer, err := p.node.Reach(ctx, rank)
	if err != nil {
		return Peer{}, failure.Waited(err, fmt.Sprintf("connection to rank %d", rank), "the rank has not been reached yet")
	}
	return p.peer(peer), nil
}

// Peers returns the ranks that this one has connected to so far, itself included, in the order
// of their numbers.
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
		return Peer{Rank: d.Rank, Host: p.job.Host, Transport: TransportSelf, Why: "it is this process", MTU: mtu}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.routes[d.Rank]
	if !ok { // the peer dialled us, and only peers on the same host do so
		r = route{host: p.job.Host, why: whyShm}
	}
	caps := d.Transport.Caps()
	return Peer{
		Rank: d.Rank, Host: r.host, Transport: Transport(caps.Name), Why: r.why, Path: path, MTU: mtu, Gone: d.Gone(),
		Guard: r.guard.public(), WhyGuard: r.guard.why, Guards: r.guard.against(caps),
	}
}
