package weftraft

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"weft/internal/waittest"
	"weft/stream"
)

// A log is a state machine that keeps what was committed.
type log struct {
	mu      sync.Mutex
	entries []string
}

func (l *log) Apply(e *raft.Log) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, string(e.Data))
	return len(l.entries)
}

func (l *log) Snapshot() (raft.FSMSnapshot, error) { return nil, io.ErrUnexpectedEOF }
func (l *log) Restore(io.ReadCloser) error         { return io.ErrUnexpectedEOF }

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// layers return n stream layers of a kind.
func layers(t *testing.T, kind string, n int) (list []raft.StreamLayer) {
	for i := range n {
		var l raft.StreamLayer
		var err error
		switch kind {
		case "weft":
			l, err = Listen(t.Context(), filepath.Join(t.TempDir(), fmt.Sprint(i)), nil)
		case "tls":
			l, err = Listen(t.Context(), "127.0.0.1:0", &stream.Config{Key: make([]byte, stream.MinKey)})
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

// cluster starts three servers, and returns the leader and what each has committed.
func cluster(t *testing.T, kind string) (leader *raft.Raft, machines []*log) {
	var servers []raft.Server
	all := layers(t, kind, 3)
	for _, l := range all {
		address := raft.ServerAddress(l.Addr().String())
		servers = append(servers, raft.Server{ID: raft.ServerID(address), Address: address})
	}
	leads := make(chan *raft.Raft, 3)
	for i, l := range all {
		cfg := raft.DefaultConfig()
		cfg.LocalID = servers[i].ID
		cfg.LogOutput = io.Discard
		cfg.HeartbeatTimeout = 300 * time.Millisecond
		cfg.ElectionTimeout = 300 * time.Millisecond
		cfg.LeaderLeaseTimeout = 300 * time.Millisecond
		store := raft.NewInmemStore()
		transport := raft.NewNetworkTransport(l, 3, 10*time.Second, io.Discard)
		machine := new(log)
		r, err := raft.NewRaft(cfg, machine, store, store, raft.NewInmemSnapshotStore(), transport)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			r.Shutdown().Error()
			transport.Close()
		})
		machines = append(machines, machine)
		go func() {
			for leader := range r.LeaderCh() {
				if leader {
					leads <- r
				}
			}
		}()
		if i == 0 {
			if err := r.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case leader = <-leads:
	case <-ctx.Done():
		t.Fatal("there is no leader")
	}
	return leader, machines
}

// TestCommits: a cluster elects a leader over streams, and all its servers commit what the leader is given.
func TestCommits(t *testing.T) {
	for _, kind := range []string{"weft", "tls"} {
		t.Run(kind, func(t *testing.T) {
			leader, machines := cluster(t, kind)
			const n = 200
			for i := range n {
				if err := leader.Apply(fmt.Append(nil, i), 10*time.Second).Error(); err != nil {
					t.Fatal(err)
				}
			}
			if err := leader.Barrier(10 * time.Second).Error(); err != nil {
				t.Fatal(err)
			}
			for _, m := range machines {
				waittest.Until(t, "every server has committed", func() bool { return m.len() >= n })
				if m.entries[n-1] != fmt.Sprint(n-1) {
					t.Errorf("the last entry is %q", m.entries[n-1])
				}
			}
		})
	}
}
