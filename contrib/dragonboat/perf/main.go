// Command perf measures how long a proposal takes in dragonboat, over its own TCP and over streams:
//
//	GOWORK=off weft run -n 3 ./perf                                                     on one host
//	GOWORK=off weftlab lab -hosts 3 -- weft run -n 3 -transport udp ./perf          between hosts
package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/client"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/logger"
	"github.com/lni/dragonboat/v4/statemachine"

	weftdragonboat "weft/contrib/dragonboat"
	"weft/lab/perf/consensus"
	"weft/stream"
)

const shard = 1

func main() {
	for _, part := range []string{
		"LogDB", "config", "dragonboat", "logdb", "pebblekv", "raft", "registry", "rsm", "server", "transport",
	} {
		logger.GetLogger(part).SetLevel(logger.CRITICAL)
	}
	consensus.Main(start)
}

type server struct {
	host    *dragonboat.NodeHost
	session *client.Session
	dir     string
}

// ignore is a state machine that does nothing.
type ignore struct{}

func (ignore) Update(statemachine.Entry) (statemachine.Result, error) {
	return statemachine.Result{}, nil
}
func (ignore) Lookup(any) (any, error) { return nil, nil }
func (ignore) Close() error            { return nil }

func (ignore) SaveSnapshot(io.Writer, statemachine.ISnapshotFileCollection, <-chan struct{}) error {
	return nil
}

func (ignore) RecoverFromSnapshot(io.Reader, []statemachine.SnapshotFile, <-chan struct{}) error {
	return nil
}

func start(ctx context.Context, at consensus.Place) (consensus.Server, error) {
	expert := config.ExpertConfig{
		LogDB: config.GetTinyMemLogDBConfig(), Engine: config.EngineConfig{
			ExecShards: 1, CommitShards: 1, ApplyShards: 1, SnapshotShards: 1, CloseShards: 1,
		},
	}
	switch at.System {
	case "ranks":
		expert.TransportFactory = weftdragonboat.Ranks(at.Network)
	case "tls":
		expert.TransportFactory = weftdragonboat.Transport(&stream.Config{Key: consensus.Key})
	case "weft":
		expert.TransportFactory = weftdragonboat.Transport(new(stream.Config))
	}
	dir, err := os.MkdirTemp("/dev/shm", "dragonboat") // in memory: no disk is measured
	if err != nil {
		return nil, err
	}
	host, err := dragonboat.NewNodeHost(config.NodeHostConfig{
		NodeHostDir: dir, RTTMillisecond: 50, RaftAddress: at.Addresses[at.Rank], Expert: expert,
	})
	if err != nil {
		return nil, err
	}
	members := map[uint64]dragonboat.Target{}
	for i, a := range at.Addresses {
		members[uint64(i+1)] = a
	}
	err = host.StartReplica(members, false, func(uint64, uint64) statemachine.IStateMachine { return ignore{} },
		config.Config{ReplicaID: uint64(at.Rank + 1), ShardID: shard, ElectionRTT: 20, HeartbeatRTT: 2})
	return &server{host, host.GetNoOPSession(shard), dir}, err
}

// Leader returns which rank leads.
func (s *server) Leader() (rank int, known bool) {
	id, _, ok, err := s.host.GetLeaderID(shard)
	return int(id) - 1, ok && err == nil
}

// Propose commits 8 bytes.
func (s *server) Propose() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := s.host.SyncPropose(ctx, s.session, []byte("proposal"))
	return err
}

// Close ends the server.
func (s *server) Close() {
	s.host.Close()
	_ = os.RemoveAll(s.dir)
}
