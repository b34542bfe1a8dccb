package weftdragonboat

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/logger"
	"github.com/lni/dragonboat/v4/statemachine"

	"weft"
	"weft/internal/waittest"
	"weft/stream"
)

func init() {
	for _, part := range []string{
		"LogDB", "config", "dragonboat", "logdb", "pebblekv", "raft", "registry", "rsm", "server", "transport",
	} {
		logger.GetLogger(part).SetLevel(logger.CRITICAL)
	}
}

const shard = 1

// A sum is a state machine that counts proposals. Its snapshots carry 5 MiB more.
type sum struct {
	mu sync.Mutex
	n  uint64
}

func (s *sum) Update(e statemachine.Entry) (statemachine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return statemachine.Result{Value: s.n}, nil
}

func (s *sum) Lookup(any) (any, error) { return s.count(), nil }

func (s *sum) count() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *sum) SaveSnapshot(w io.Writer, _ statemachine.ISnapshotFileCollection, _ <-chan struct{}) error {
	if err := binary.Write(w, binary.BigEndian, s.count()); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, 5<<20)) // three chunks
	return err
}

func (s *sum) RecoverFromSnapshot(r io.Reader, _ []statemachine.SnapshotFile, _ <-chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return binary.Read(r, binary.BigEndian, &s.n)
}

func (s *sum) Close() error { return nil }

// A replica is a NodeHost with the only replica that it runs.
type replica struct {
	host  *dragonboat.NodeHost
	state *sum
	close func()
}

// start starts replica number id of a shard: with its members, or as one that joins.
func start(t testing.TB, id uint64, address string, transports config.TransportFactory,
	members map[uint64]dragonboat.Target) *replica {
	host, err := dragonboat.NewNodeHost(config.NodeHostConfig{
		NodeHostDir: t.TempDir(), RTTMillisecond: 20, RaftAddress: address,
		Expert: config.ExpertConfig{
			TransportFactory: transports,
			LogDB:            config.GetTinyMemLogDBConfig(), Engine: config.EngineConfig{
				ExecShards: 1, CommitShards: 1, ApplyShards: 1, SnapshotShards: 1, CloseShards: 1,
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{host, new(sum), sync.OnceFunc(host.Close)}
	t.Cleanup(r.close)
	err = host.StartReplica(members, members == nil, func(uint64, uint64) statemachine.IStateMachine { return r.state },
		config.Config{
			ReplicaID: id, ShardID: shard, ElectionRTT: 20, HeartbeatRTT: 2, CheckQuorum: true, CompactionOverhead: 1,
		})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// propose makes n proposals, one after the other, each again until it is certain.
func (r *replica) propose(t testing.TB, n int) {
	session := r.host.GetNoOPSession(shard)
	for range n {
		waittest.Until(t, "a proposal is committed", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // some are lost before there is a leader
			defer cancel()
			_, err := r.host.SyncPropose(ctx, session, []byte("proposal"))
			return err == nil
		})
	}
}

// cluster starts three replicas in one way, and returns one more address.
func cluster(t testing.TB, kind string) (replicas []*replica, transports config.TransportFactory, spare string) {
	addresses, transports := places(t, kind)
	members := map[uint64]dragonboat.Target{}
	for i, a := range addresses[:3] {
		members[uint64(i+1)] = a
	}
	for i, a := range addresses[:3] {
		replicas = append(replicas, start(t, uint64(i+1), a, transports, members))
	}
	return replicas, transports, addresses[3]
}

// places returns four addresses of a kind, and what makes transports for them.
func places(t testing.TB, kind string) (addresses []string, transports config.TransportFactory) {
	for range 4 {
		address := filepath.Join(t.TempDir(), "raft")
		if kind == "tls" {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close() // when all have been chosen
			address = l.Addr().String()
		}
		addresses = append(addresses, address)
	}
	if kind == "tls" {
		return addresses, Transport(&stream.Config{Key: make([]byte, stream.MinKey)})
	}
	return addresses, Transport(new(stream.Config))
}

// TestCommits: replicas elect a leader, and all apply what is proposed. A replica that joins after the log was cut gets
// a snapshot of several chunks.
func TestCommits(t *testing.T) {
	for _, kind := range []string{"weft", "tls"} {
		t.Run(kind, func(t *testing.T) {
			replicas, transports, spare := cluster(t, kind)
			const n = 100
			replicas[0].propose(t, n)
			for _, r := range replicas {
				waittest.Until(t, "each replica has applied all", func() bool { return r.state.count() >= n })
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			option := dragonboat.SnapshotOption{OverrideCompactionOverhead: true, CompactionOverhead: 1}
			for _, r := range replicas {
				if _, err := r.host.SyncRequestSnapshot(ctx, shard, option); err != nil {
					t.Fatal(err)
				}
			}
			if err := replicas[0].host.SyncRequestAddReplica(ctx, shard, 4, spare, 0); err != nil {
				t.Fatal(err)
			}
			fourth := start(t, 4, spare, transports, nil)
			waittest.Until(t, "the replica that has joined has all", func() bool { return fourth.state.count() >= n })
		})
	}
}

// TestRanks: the ranks of a job run a replica each, over the job's own network.
func TestRanks(t *testing.T) {
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		n, err := stream.Open(p, 1)
		if err != nil {
			return err
		}
		members := map[uint64]dragonboat.Target{1: "rank0", 2: "rank1", 3: "rank2"}
		r := start(t, uint64(p.Rank()+1), fmt.Sprint("rank", p.Rank()), Ranks(n), members)
		r.propose(t, 20)
		waittest.Until(t, "each replica has applied all", func() bool { return r.state.count() >= 60 })
		r.close()
		return n.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAddresses: each way tells its addresses from others.
func TestAddresses(t *testing.T) {
	paths := Transport(new(stream.Config))
	ranks := Ranks(nil)
	for address, want := range map[string][2]bool{
		"/run/raft": {true, false}, "@raft": {true, false}, "db1:7000": {true, false}, "rank3": {false, true},
		"db1": {}, "rank": {}, "rank-1": {}, "": {},
	} {
		if got := [2]bool{paths.Validate(address), ranks.Validate(address)}; got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}
