package weft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"weft/internal/launch"
)

// envProgram tells a process that Launch has started which function it runs.
const envProgram = "WEFT_PROGRAM"

// launched tells whether Launched has been called, so that Launch can start this executable.
var launched atomic.Bool

// Launched names the functions that Launch can run as ranks. It must be the first call of TestMain,
// or of main, in an executable that calls Launch:
//
//	func TestMain(m *testing.M) {
//		weft.Launched(map[string]func(context.Context, *weft.Proc) error{"worker": work})
//		os.Exit(m.Run())
//	}
//
// In a process that Launch has started, Launched does not return: it calls Main with the function
// that was asked for. In other processes it returns at once. The map may be nil if Launch
// starts only other programs.
func Launched(programs map[string]func(ctx context.Context, p *Proc) error) {
	launch.Guarded()
	name, ok := os.LookupEnv(envProgram)
	if !ok {
		launched.Store(true)
		return
	}
	os.Unsetenv(envProgram) // it does not concern processes that this one starts
	run := programs[name]
	if run == nil {
		fmt.Fprintf(os.Stderr, "weft: launch: Launched does not name a function %q; it names %q\n",
			name, slices.Sorted(maps.Keys(programs)))
		os.Exit(1)
	}
	Main(run)
	os.Exit(0)
}

// LaunchConfig configures the job that Launch starts. Either Run or Program must be set.
type LaunchConfig struct {
	// Run is the name of a function that Launched has named: the ranks are processes of this
	// executable, which in a test is the test's own.
	Run string

	// Program is another program: an executable, a command in $PATH, or a Go package
	// such as "./cmd/worker", which is built first.
	Program string

	// Args are the arguments of the ranks.
	Args []string

	// Env are variables, as "NAME=VALUE", that are added to the environment of this process.
	Env []string

	// Transport and Liveness are those of Config, for ranks whose Config does not set them.
	Transport Transport
	Liveness  time.Duration

	// Hosts makes the ranks behave as on this many hosts, rank i on host i modulo Hosts; 0 means
	// 1.
	Hosts int

	// Output, if it is not nil, gets what the ranks write, in whole lines that begin with the
	// rank, such as "[3] ".
	Output io.Writer
}

// Launch starts n processes as the ranks of a job on this machine, as weft run does, and returns
// when they have been started. It is for tests of what a program does when ranks die, stop or
// are slow: when one rank fails, the others go on.
//
// The job is killed when ctx ends; Close also waits until no process is left. If this process
// ends without Close, in whatever way, the ranks and the processes that they have started are
// killed. Launch needs Linux.
func Launch(ctx context.Context, n int, cfg *LaunchConfig) (*Job, error) {
	if n < 1 {
		return nil, &RankError{n, n}
	}
	if !launched.Load() {
		return nil, errors.New("weft: launch: call weft.Launched at the beginning of TestMain, or of main")
	}
	if cfg == nil {
		cfg = &LaunchConfig{}
	}
	j := &Job{ranks: make([]launchedRank, n)}
	order := launch.Job{
		N: n, Pretend: cfg.Hosts, Transport: string(cfg.Transport), Liveness: cfg.Liveness, Args: cfg.Args,
		Env: slices.Clone(cfg.Env), Survive: true,
		Tee: func(rank int) io.Writer { return &j.ranks[rank] },
	}
	if cfg.Output != nil {
		out := &lockedWriter{to: cfg.Output}
		order.Prefix = true
		order.Stdout = out
		order.Stderr = out
	}
	if err := j.resolve(ctx, cfg, &order); err != nil {
		return nil, err
	}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	run, err := launch.Start(j.ctx, order, nil)
	if err != nil {
		j.cancel(nil)
		j.clean()
		return nil, publicStart(err)
	}
	j.run = run
	return j, nil
}

// resolve finds the program.
func (j *Job) resolve(ctx context.Context, cfg *LaunchConfig, order *launch.Job) (err error) {
	switch {
	case cfg.Run != "" && cfg.Program != "":
		return fmt.Errorf("weft: launch: Run is %q and Program is %q: set only one of the two", cfg.Run, cfg.Program)
	case cfg.Program != "":
		order.Program, j.temp, err = launch.Resolve(ctx, cfg.Program)
		order.Temp = j.temp
	case cfg.Run != "":
		order.Program, err = os.Executable()
		order.Env = append(order.Env, envProgram+"="+cfg.Run)
	default:
		return errors.New("weft: launch: LaunchConfig needs Run, a name of weft.Launched, or Program")
	}
	return publicStart(err)
}
