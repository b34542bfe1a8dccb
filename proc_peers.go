package weft

import (
	"context"
	"fmt"
	"sort"

	"weft/failure"
	"weft/internal/driver"
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
	transport, r := p.member.Reaches(d)
	peer := Peer{Rank: d.Rank, Host: r.Host, Transport: Transport(transport), Why: r.Why, MTU: mtu}
	if d.Rank != p.job.Rank {
		peer.Path = path
		peer.Gone = d.Gone()
		peer.Guard = Guard(r.Guard.Name())
		peer.WhyGuard = r.Guard.Why
		peer.Guards = r.Guard.Against(d.Transport.Caps())
	}
	return peer
}
