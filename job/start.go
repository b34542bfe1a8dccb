package job

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

	"weft"
	"weft/internal/launch"
)

// ready tells whether Main has been called, so that Start can start this executable.
var ready atomic.Bool

// Main names the functions that Start can run as ranks. It must be the first call of TestMain, or of main, in an
// executable that calls Start. In a process that Start has started as a rank, Main does not return: it calls
// weft.Main with the function that was asked for. In other processes it returns at once. The map may be nil if
// Start starts only other programs.
func Main(programs map[string]func(ctx context.Context, p *weft.Proc) error) {
	launch.Guarded()
	name, ok := os.LookupEnv(launch.ProgramEnv)
	if !ok {
		ready.Store(true)
		return
	}
	os.Unsetenv(launch.ProgramEnv) // it does not concern processes that this one starts
	run := programs[name]
	if run == nil {
		fmt.Fprintf(os.Stderr, "weft: job: Main does not name a function %q; it names %q\n",
			name, slices.Sorted(maps.Keys(programs)))
		os.Exit(1)
	}
	weft.Main(run)
	os.Exit(0)
}

// Config configures the job that Start starts. Either Run or Program must be set.
type Config struct {
	Ranks int

	// Run is the name of a function that Main has named: the ranks are processes of this
	// executable, which in a test is the test's own.
	Run string

	// Program is another program: an executable, a command in $PATH, or a Go package
	// such as "./cmd/worker", which is built first.
	Program string

	// Args are the arguments of the ranks.
	Args []string

	// Env are variables, as "NAME=VALUE", that are added to the environment of this process.
	Env []string

	// Transport and Liveness are those of weft.Config, for ranks whose Config does not set them.
	Transport weft.Transport
	Liveness  time.Duration

	// Hosts makes the ranks behave as on this many hosts, rank i on host i modulo Hosts; 0 means
	// 1.
	Hosts int

	// Output, if it is not nil, gets what the ranks write, in whole lines that begin with the
	// rank, such as "[3] ".
	Output io.Writer
}

// Start starts processes as the ranks of a job on this machine, as weft run does, and returns when they have been
// started. The job is killed when ctx ends; Close also waits until no process is left.
func Start(ctx context.Context, cfg Config) (*Job, error) {
	if cfg.Ranks < 1 {
		return nil, &weft.RankError{Rank: cfg.Ranks, Size: cfg.Ranks}
	}
	if !ready.Load() {
		return nil, errors.New("weft: job: call job.Main at the beginning of TestMain, or of main")
	}
	j := &Job{release: func() {}, ranks: make([]rank, cfg.Ranks)}
	order := launch.Job{
		N: cfg.Ranks, Pretend: cfg.Hosts, Transport: string(cfg.Transport), Liveness: cfg.Liveness, Args: cfg.Args,
		Env: slices.Clone(cfg.Env), Survive: true,
		Tee: func(rank int) io.Writer { return &j.ranks[rank] },
	}
	if cfg.Output != nil {
		out := &lockedWriter{to: cfg.Output}
		order.Prefix = true
		order.Stdout = out
		order.Stderr = out
	}
	if err := j.resolve(ctx, &cfg, &order); err != nil {
		return nil, err
	}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	run, err := launch.Start(j.ctx, order, nil)
	if err != nil {
		j.cancel(nil)
		j.release()
		return nil, err
	}
	j.run = run
	return j, nil
}

// resolve finds the program.
func (j *Job) resolve(ctx context.Context, cfg *Config, order *launch.Job) (err error) {
	switch {
	case cfg.Run != "" && cfg.Program != "":
		return fmt.Errorf("weft: job: Run is %q and Program is %q: set only one of the two", cfg.Run, cfg.Program)
	case cfg.Program != "":
		order.Program, j.release, err = launch.Resolve(ctx, cfg.Program)
	case cfg.Run != "":
		order.Program, err = os.Executable()
		order.Env = append(order.Env, launch.ProgramEnv+"="+cfg.Run)
	default:
		return errors.New("weft: job: Config needs Run, a name of job.Main, or Program")
	}
	return err
}
