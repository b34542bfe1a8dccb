// Command perf measures how long a commit of hashicorp/raft takes, over its own TCP and over streams:
//
//	GOWORK=off weft run -n 3 ./perf                                                     on one host
//	GOWORK=off weftlab lab -hosts 3 -- weft run -n 3 -transport udp ./perf          between hosts
package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	weftraft "weft/contrib/raft"
	"weft/lab/perf/consensus"
	"weft/stream"
)

func main() { consensus.Main(start) }

type server struct {
	raft      *raft.Raft
	transport *raft.NetworkTransport
	at        consensus.Place
}

// ignore is a state machine that does nothing.
type ignore struct{}

func (ignore) Apply(*raft.Log) any                 { return nil }
func (ignore) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.ErrUnsupported }
func (ignore) Restore(io.ReadCloser) error         { return errors.ErrUnsupported }

func start(ctx context.Context, at consensus.Place) (consensus.Server, error) {
	transport, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	cfg := raft.DefaultConfig()
	cfg.LocalID = raft.ServerID(at.Addresses[at.Rank])
	cfg.LogOutput = io.Discard
	store := raft.NewInmemStore()
	r, err := raft.NewRaft(cfg, ignore{}, store, store, raft.NewInmemSnapshotStore(), transport)
	if err != nil {
		return nil, err
	}
	if at.Rank == 0 {
		var all []raft.Server
		for _, a := range at.Addresses {
			all = append(all, raft.Server{ID: raft.ServerID(a), Address: raft.ServerAddress(a)})
		}
		err = r.BootstrapCluster(raft.Configuration{Servers: all}).Error()
	}
	return &server{r, transport, at}, err
}

func open(ctx context.Context, at consensus.Place) (*raft.NetworkTransport, error) {
	const pool = 3
	const timeout = 10 * time.Second
	mine := at.Addresses[at.Rank]
	var layer *weftraft.Layer
	var err error
	switch at.System {
	case "tcp":
		return raft.NewTCPTransport(mine, nil, pool, timeout, io.Discard)
	case "ranks":
		layer, err = weftraft.Ranks(at.Network)
	case "tls":
		layer, err = weftraft.Listen(ctx, mine, &stream.Config{Key: consensus.Key})
	default:
		layer, err = weftraft.Listen(ctx, mine, nil)
	}
	if err != nil {
		return nil, err
	}
	return raft.NewNetworkTransport(layer, pool, timeout, io.Discard), nil
}

// Leader returns which rank leads.
func (s *server) Leader() (rank int, known bool) {
	address, _ := s.raft.LeaderWithID()
	for i, a := range s.at.Addresses {
		if address != "" && strings.HasPrefix(string(address), a) {
			return i, true
		}
	}
	return 0, false
}

// Propose commits 8 bytes.
func (s *server) Propose() error { return s.raft.Apply([]byte("proposal"), 10*time.Second).Error() }

// Close ends the server.
func (s *server) Close() {
	_ = s.raft.Shutdown().Error()
	_ = s.transport.Close()
}
