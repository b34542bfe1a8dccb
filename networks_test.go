package weft

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/explore"
	"weft/internal/join"
	"weft/internal/transport/pipe"
)

// networks runs a test over pipes with direct memory, over shared memory, and in the simulator. All ranks are
// goroutines of this process. What differs by transport besides is shown by internal/transport/transporttest, and
// by the tests that run everywhere.
func networks(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	real(t, n, run)
	overSim(t, n, run)
}

// everywhere runs a test over every transport: where its course depends on what carries the packets.
func everywhere(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	networks(t, n, run)
	if explore.Round() == 0 {
		others(t, n, run)
	}
}

// overSim runs a test in the simulator, each rank on a host of its own, and two on a host.
func overSim(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
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

// real runs a test over pipes with direct memory and over shared memory: for tests whose ranks start goroutines. A
// round of exploration adds the others.
func real(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	t.Run("direct", func(t *testing.T) { overPipes(t, 0, true, n, run) })
	t.Run("shm", func(t *testing.T) { overJoined(t, Config{Transport: "shm"}, n, run) })
	if explore.Round() > 0 {
		others(t, n, run)
	}
}

// others runs a test over what real leaves out: packets, also so short that everything is cut, UDP and TCP, plain and
// encrypted, and a difficult network between hosts (overHosts).
func others(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	t.Run("packets", func(t *testing.T) { overPipes(t, 0, false, n, run) })
	t.Run("short packets", func(t *testing.T) { overPipes(t, 128, false, n, run) })
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"udp", Config{Transport: "udp"}}, {"tcp", Config{Transport: "tcp"}},
		{"udp, encrypted", Config{Transport: "udp", Guard: GuardEncrypt}},
		{"tcp, encrypted", Config{Transport: "tcp", Guard: GuardEncrypt}},
	} {
		if raceEnabled && c.cfg.Guard != "" {
			continue // guards are made under the node's lock, and the run without the race detector has them
		}
		t.Run(c.name, func(t *testing.T) { overJoined(t, c.cfg, n, run) })
	}
	overHosts(t, n, run)
}

// overPipes runs a test over pipes of packets of mtu bytes, or of the usual length if mtu is 0.
func overPipes(t *testing.T, mtu int, direct bool, n int, run func(ctx context.Context, p *Proc) error) {
	net := pipe.NewNetwork()
	net.MTU = mtu
	net.Direct = direct
	if err := local(within(t), net, n, run); err != nil {
		t.Fatal(err)
	}
}

// overJoined runs a test over a transport of processes. A rank is not taken for dead because the machine is loaded.
func overJoined(t *testing.T, cfg Config, n int, run func(ctx context.Context, p *Proc) error) {
	cfg.Liveness = time.Minute
	if err := runAll(within(t), joinAll(t, n, &cfg), run); err != nil {
		t.Fatal(err)
	}
}

// joinAll returns n ranks in this process that talk as if they were processes.
func joinAll(t testing.TB, n int, cfg *Config) []*Proc {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("shared memory and UDP need Linux")
	}
	procs := make([]*Proc, n)
	for rank, src := range bootstrap.NewLocal(n) {
		procs[rank] = enter(t, cfg, src, func(m *join.Member) error { return m.Enter(within(t)) })
	}
	return procs
}

// enter returns a process that enters a job by its source.
func enter(t testing.TB, cfg *Config, src bootstrap.Source, how func(m *join.Member) error) *Proc {
	t.Helper()
	m, err := join.New(cfg.settings(), src)
	if err == nil {
		err = how(m)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newProc(m)
	t.Cleanup(func() { p.Close() })
	return p
}

// openAll opens a port at every rank.
func openAll(t testing.TB, procs []*Proc) []*Port {
	t.Helper()
	ports := make([]*Port, len(procs))
	err := together(within(t), procs, func(ctx context.Context, p *Proc) (err error) {
		ports[p.Rank()], err = p.OpenPort(1, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ports
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
