package weft

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/transport/pipe"
)

// networks runs a test over every transport: pipes with and without direct
// memory, and with packets so short that everything is cut; shared memory; UDP and
// TCP, plain and encrypted; a difficult network between hosts (overHosts); and in the simulator. All ranks are
// goroutines of this process.
func networks(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	real(t, n, run)
	for _, perHost := range []int{0, 2} {
		name := "sim"
		if perHost > 0 {
			name = fmt.Sprintf("sim, %d on a host", perHost)
		}
		t.Run(name, func(t *testing.T) {
			_, err := Simulate(within(t), Cluster{Ranks: n, PerHost: min(perHost, n), Topology: "ring", Loss: 0.01}, run)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// real leaves the simulator out: for tests whose ranks start goroutines.
func real(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	for _, c := range []struct {
		name   string
		mtu    int
		direct bool
	}{{"direct", 0, true}, {"packets", 0, false}, {"short packets", 128, false}} {
		t.Run(c.name, func(t *testing.T) {
			net := pipe.NewNetwork()
			net.MTU = c.mtu
			net.Direct = c.direct
			if err := local(within(t), net, LocalConfig{Ranks: n}, run); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, c := range []struct {
		name      string
		transport Transport
		guard     Guard
	}{
		{"shm", "shm", ""}, {"udp", "udp", ""}, {"tcp", "tcp", ""},
		{"udp, encrypted", "udp", GuardEncrypt}, {"tcp, encrypted", "tcp", GuardEncrypt},
	} {
		if raceEnabled && c.guard != "" {
			continue // guards are made under the node's lock, and the run without the race detector has them
		}
		t.Run(c.name, func(t *testing.T) {
			patient := &Config{Transport: c.transport, Guard: c.guard, Liveness: 30 * time.Second} // on a loaded machine
			procs := joinAll(t, n, patient)
			if err := runAll(within(t), procs, run); err != nil {
				t.Fatal(err)
			}
		})
	}
	overHosts(t, n, run)
}

// joinAll returns n ranks in this process that talk as if they were processes.
func joinAll(t testing.TB, n int, cfg *Config) []*Proc {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("shared memory and UDP need Linux")
	}
	procs := make([]*Proc, n)
	for rank, src := range bootstrap.NewLocal(n) {
		p, err := newProc(cfg, src)
		if err == nil {
			err = p.join(within(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		procs[rank] = p
	}
	return procs
}

// runAll runs every rank, whose program has returned then, and returns the first error when all have ended.
func runAll(ctx context.Context, procs []*Proc, run func(ctx context.Context, p *Proc) error) error {
	return together(ctx, procs, func(ctx context.Context, p *Proc) error {
		err := run(ctx, p)
		if err == nil {
			p.hasReturned()
		}
		return err
	})
}

// together calls a function at every rank at the same time, and returns the first error when all have ended.
func together(ctx context.Context, procs []*Proc, run func(ctx context.Context, p *Proc) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, p := range procs {
		wg.Go(func() {
			if err := run(ctx, p); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
