package main

import (
	"context"
	"encoding/json"
	"os"

	"weft"
	"weft/internal/sys"
)

// rankInfo is what a rank reports about itself: a line of -json.
type rankInfo struct {
	Rank      int        `json:"rank"`
	Host      string     `json:"host"`
	Waiting   string     `json:"waiting"`
	Barrier   string     `json:"barrier"` // the algorithm of a barrier of all ranks, and why
	Peers     []peerInfo `json:"peers"`
	Idle      uint64     `json:"idle_bytes"`      // weft's memory before the first packet to a peer
	Connected uint64     `json:"connected_bytes"` // weft's memory after a message to and from each peer
	Process   uint64     `json:"process_bytes"`   // resident memory of the process
	CPUs      []int      `json:"cpus"`            // the processors that the rank may use
}

type peerInfo struct {
	Rank      int            `json:"rank"`
	Host      string         `json:"host"`
	Transport weft.Transport `json:"transport"`
	Guard     weft.Guard     `json:"guard,omitempty"` // how packets are protected on a network
	WhyGuard  string         `json:"why_guard,omitempty"`
	Guards    string         `json:"guards"` // what packets are protected against on their path
	Why       string         `json:"why"`
	Path      string         `json:"path,omitempty"` // of the packets between hosts; see weft.Peer
	MTU       int            `json:"mtu"`
}

// tellInfo is what a rank of weft info does.
func tellInfo(ctx context.Context, p *weft.Proc) error {
	r := rankInfo{Rank: p.Rank(), Waiting: p.Waiting(), Host: p.Host()}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	r.Idle = p.Stats().MemoryBytes
	for i := range p.Size() {
		if i == p.Rank() {
			continue
		}
		if _, err := p.Connect(ctx, i); err != nil {
			return err
		}
		if err := q.Send(ctx, i, []byte("hello")); err != nil {
			return err
		}
	}
	for range p.Size() - 1 {
		m, err := q.Recv(ctx)
		if err != nil {
			return err
		}
		m.Release()
	}
	for _, peer := range p.Peers() { // after a message to each: the paths have been looked at
		if peer.Rank != p.Rank() {
			r.Peers = append(r.Peers, peerInfo{
				peer.Rank, peer.Host, peer.Transport, peer.Guard, peer.WhyGuard, peer.Guards, peer.Why, peer.Path, peer.MTU,
			})
		}
	}
	r.Connected = p.Stats().MemoryBytes
	r.Process = sys.ProcSize("/proc/self/status", "VmRSS")
	r.CPUs = sys.Affinity()
	if r.Barrier, err = p.Barrier("weft info", nil).Why(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
