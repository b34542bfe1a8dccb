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

// envProgram tells a process that Launch has started which program it is to be.
const envProgram = "WEFT_PROGRAM"

// launched says whether Launched has been called: the executable can be its ranks.
var launched atomic.Bool

// Launched makes the functions of programs what Launch can start, by their names. It
// must be the first call of TestMain, or of main, of an executable that calls Launch:
//
//	func TestMain(m *testing.M) {
//		weft.Launched(map[string]func(context.Context, *weft.Proc) error{"worker": work})
//		os.Exit(m.Run())
//	}
//
// In a process that Launch has started it does not return: there it is Main, with the
// function that was asked for. Elsewhere it returns at once. The map may be nil if only
// other programs are started.
func Launched(programs map[string]func(ctx context.Context, p *Proc) error) {
	launch.Guarded()
	name, ok := os.LookupEnv(envProgram)
	if !ok {
		launched.Store(true)
		return
	}
	os.Unsetenv(envProgram) // it is ours alone, not our children's
	run := programs[name]
	if run == nil {
		fmt.Fprintf(os.Stderr, "weft: there is no program %q to launch; Launched was told of %q\n", name, slices.Sorted(maps.Keys(programs)))
		os.Exit(1)
	}
	Main(run)
	os.Exit(0)
}

// LaunchConfig says what Launch starts. One of Run and Program is needed.
type LaunchConfig struct {
	// Run names a function that Launched was told of: the ranks are processes of this
	// very executable, which in a test is that of the test.
	Run string

	// Program is another program: an executable, a command in $PATH, or a Go package
	// such as "./cmd/worker", which is built first.
	Program string

	// Args are the arguments of the ranks.
	Args []string

	// Env is added to the environment of this process, as "NAME=VALUE".
	Env []string

	// Transport and Liveness are what Config has, for ranks that do not say otherwise.
	Transport string
	Liveness  time.Duration

	// Hosts pretends that the ranks are on so many hosts, in turn; 0 means 1.
	Hosts int

	// Output also gets what the ranks write, whole lines of which each begins with the
	// rank, such as "[3] ". It may be nil.
	Output io.Writer
}

// Launch starts n processes as the ranks of a job on this machine, as weft run does, and
// returns when they have been started. It is for tests of what a program does when ranks
// die, stop or are slow: no rank is ended because another one fails.
//
// The job is killed when ctx ends; Close also waits until nothing is left of it. Should
// this process end without Close, however it ends, then the ranks are killed, with what
// they have started. It needs Linux.
func Launch(ctx context.Context, n int, cfg *LaunchConfig) (*Job, error) {
	if n < 1 {
		return nil, &RankError{n, n}
	}
	if !launched.Load() {
		return nil, errors.New("weft: launch: call weft.Launched first thing in TestMain, or in main")
	}
	if cfg == nil {
		cfg = &LaunchConfig{}
	}
	j := &Job{ranks: make([]launchedRank, n)}
	order := launch.Job{
		N: n, Pretend: cfg.Hosts, Transport: cfg.Transport, Liveness: cfg.Liveness, Args: cfg.Args,
		Env: slices.Clone(cfg.Env), Survive: true,
		Tee: func(rank int) io.Writer { return &j.ranks[rank] },
	}
	if cfg.Output != nil {
		out := &lockedWriter{to: cfg.Output}
		order.Prefix, order.Stdout, order.Stderr = true, out, out
	}
	if err := j.resolve(ctx, cfg, &order); err != nil {
		return nil, err
	}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	run, err := launch.Start(j.ctx, order, nil)
	if err != nil {
		j.cancel(nil)
		j.clean()
		return nil, err
	}
	j.run = run
	return j, nil
}

// resolve finds the program.
func (j *Job) resolve(ctx context.Context, cfg *LaunchConfig, order *launch.Job) (err error) {
	switch {
	case cfg.Run != "" && cfg.Program != "":
		return fmt.Errorf("weft: launch: Run %q or Program %q: which of the two?", cfg.Run, cfg.Program)
	case cfg.Program != "":
		order.Program, j.temp, err = launch.Resolve(ctx, cfg.Program)
		order.Temp = j.temp
	case cfg.Run != "":
		order.Program, err = os.Executable()
		order.Env = append(order.Env, envProgram+"="+cfg.Run)
	default:
		return errors.New("weft: launch: what? LaunchConfig needs Run, a name that weft.Launched was told of, or Program")
	}
	return err
}
