package stress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"weft"
	"weft/internal/launch"
)

// simulateEnds plays a table of ends in virtual time.
func simulateEnds(ctx context.Context, plan Plan, log io.Writer) (*Failure, *weft.Simulation) {
	n := []int{2, 4, 8}[plan.Seed%3]
	p := drawEnds(plan.Seed, n, true)
	cluster := weft.Cluster{
		Ranks: n, PerHost: []int{0, n, n / 2}[plan.Seed/3%3], Loss: []float64{0, 0.02}[plan.Seed/9%2],
		Liveness: time.Second, Seed: plan.Seed, Log: log,
	}
	for rank, way := range p.ways {
		if way == kill {
			cluster.Faults = append(cluster.Faults, weft.Fault{Kind: weft.Crash, Ranks: []int{rank}, At: p.after})
		}
	}
	var found []string
	result, err := weft.Simulate(ctx, cluster, func(ctx context.Context, proc *weft.Proc) error {
		err := p.run(ctx, proc)
		if err != nil && !errors.Is(err, errPlanned) && p.ways[proc.Rank()] != kill {
			found = append(found, err.Error())
		}
		return err
	})
	if err != nil && !errors.Is(err, errPlanned) && len(found) == 0 {
		found = append(found, err.Error())
	}
	if found == nil {
		return nil, result
	}
	return &Failure{Plan: plan, Found: append(found, p.String())}, result
}

// envEnds holds the seed of a table of ends, for a rank that is a process.
const envEnds = "WEFT_STRESS_ENDS"

// beEnds is Rank for a rank of a table of ends. It does not return in one.
func beEnds() {
	if text := os.Getenv(envEnds); text != "" {
		seed, _ := strconv.ParseUint(text, 10, 64)
		weft.Main(func(ctx context.Context, p *weft.Proc) error { return drawEnds(seed, p.Size(), false).run(ctx, p) })
		os.Exit(0)
	}
}

// atOnce is how long a job may take to end after a signal, on a machine that has time for it: two seconds, and some
// for the launcher's own end.
const atOnce = 2500 * time.Millisecond

// runEnds plays a table of ends with real processes.
func runEnds(ctx context.Context, plan Plan, o Options) (*Failure, error) {
	p := drawEnds(plan.Seed, plan.N, false)
	out := &output{begun: make(chan struct{}), n: plan.N}
	interrupted := p.ways[0] == signal
	signals := make(chan os.Signal, 1)
	run, err := launch.Start(ctx, launch.Job{
		Program: o.Program, N: plan.N, Pretend: plan.Hosts, Transport: plan.Transport, Liveness: plan.Liveness,
		Survive: !interrupted, Prefix: true, Stdout: out, Stderr: out, Report: out, Timeout: o.Patience,
		Env: append(plan.Env, fmt.Sprintf("%s=%d", envEnds, plan.Seed)),
	}, signals)
	if err != nil {
		return nil, err
	}
	sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[plan.Seed%2]
	if interrupted {
		select {
		case <-out.begun:
		case <-run.Done():
		}
		signals <- sig
	}
	since := time.Now()
	result := run.Wait()
	var found []string
	if took := time.Since(since); interrupted && (result.Status != 128+int(sig) || o.Timed && took > atOnce) {
		found = append(found, fmt.Sprintf("%v: status %d, after %v", sig, result.Status, took))
	}
	for rank, way := range p.ways {
		want := map[string]int{fail: 1, broken: 2, crash: 7, kill: 128 + int(syscall.SIGKILL)}[way]
		if status, cause := run.Exit(rank); !interrupted && status != want {
			found = append(found, fmt.Sprintf("rank %d: %s, and not %d", rank, cause, want))
		}
	}
	if found == nil {
		return nil, nil
	}
	return &Failure{Plan: plan, Found: append(found, p.String(), out.String())}, nil
}

// An output is what the ranks write.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	n     int
	begun chan struct{} // closed when all ranks have said so
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.count()
	_, _ = o.text.Write(b)
	if before < o.n && o.count() == o.n {
		close(o.begun)
	}
	return len(b), nil
}

func (o *output) count() int { return strings.Count(o.text.String(), "] "+allBegun+"\n") }

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
