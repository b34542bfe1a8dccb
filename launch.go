package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/launch"
	"weft/internal/waitgraph"
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

// A Job is what Launch has started: real processes, each a rank. Its methods may be
// called by any goroutine. A rank that the job does not have makes them panic.
type Job struct {
	ctx    context.Context // ends with a cause when the job is to end
	cancel context.CancelCauseFunc
	run    *launch.Running
	temp   string // a directory with the program, if we have built it
	ranks  []launchedRank
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

// PID returns the number of a rank's process.
func (j *Job) PID(rank int) int { return j.run.PID(rank) }

// Kill kills a rank, with what it has started, and returns when it has ended. A rank
// that has ended stays as it is.
func (j *Job) Kill(rank int) {
	j.ranks[rank].killed.Store(true)
	j.run.Kill(rank)
}

// Stop stops a rank: none of its threads runs when Stop returns, until Continue. It
// reports false if the rank has ended.
func (j *Job) Stop(rank int) bool { return j.run.Stop(rank) }

// Continue lets a rank that was stopped go on. It reports false if the rank has ended.
func (j *Job) Continue(rank int) bool { return j.run.Continue(rank) }

// Signal sends a signal to a rank and what it has started: SIGQUIT makes a Go program
// write the stacks of its goroutines and end. It reports false if the rank has ended.
func (j *Job) Signal(rank int, s os.Signal) bool {
	n, ok := s.(syscall.Signal)
	return ok && j.run.Signal(rank, n)
}

// Output returns the lines that a rank has written so far, to standard output and to
// standard error. Of more than 16 MiB it is the end.
func (j *Job) Output(rank int) string {
	r := &j.ranks[rank]
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// Await returns when a rank has written a line that contains text. It returns an
// ExitError if the rank ends without.
func (j *Job) Await(ctx context.Context, rank int, text string) error {
	r := &j.ranks[rank]
	for ended := false; ; {
		found, more := r.find(text)
		switch {
		case found:
			return nil
		case ended:
			return fmt.Errorf("weft: launch: waiting for %q: %w", text, j.exitError(rank))
		}
		select {
		case <-more:
		case <-j.run.Ended(rank):
			ended = true // look once more
		case <-ctx.Done():
			return fmt.Errorf("weft: launch: waiting for %q: %w; rank %d wrote %q", text, ctx.Err(), rank, lastLines(j.Output(rank)))
		}
	}
}

// Exit waits until a rank has ended and returns its exit status: 128 + the signal's
// number if a signal ended it, as a shell has it.
func (j *Job) Exit(ctx context.Context, rank int) (status int, err error) {
	select {
	case <-j.run.Ended(rank):
		status, _ = j.run.Exit(rank)
		return status, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("weft: launch: waiting for the end of rank %d: %w", rank, ctx.Err())
	}
}

// Wait returns when all ranks have ended. The error joins an ExitError for each that did
// not end well, but for those that Kill has ended. A rank that is stopped does not end:
// Continue or Kill it.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.run.Done():
	case <-ctx.Done():
		return fmt.Errorf("weft: launch: waiting for the end of the job: %w", ctx.Err())
	}
	if err := context.Cause(j.ctx); err != nil {
		return err
	}
	var errs []error
	for rank := range j.ranks {
		if status, _ := j.run.Exit(rank); status != 0 && !j.ranks[rank].killed.Load() {
			errs = append(errs, j.exitError(rank))
		}
	}
	return errors.Join(errs...)
}

// Waits says what each rank waits for, and which ranks wait for each other for good, as
// weft ps does.
func (j *Job) Waits() string {
	var s strings.Builder
	_ = waitgraph.New(j.run.Status().Ranks).WriteText(&s)
	return s.String()
}

// Close kills the ranks that have not ended, and returns when nothing is left of the
// job. What they wrote can still be read.
func (j *Job) Close() error {
	j.cancel(ErrClosed)
	<-j.run.Done()
	j.clean()
	return nil
}

// clean removes what we have built.
func (j *Job) clean() {
	if j.temp != "" {
		os.RemoveAll(j.temp)
	}
}

func (j *Job) exitError(rank int) *ExitError {
	status, cause := j.run.Exit(rank)
	return &ExitError{rank, status, cause, lastLines(j.Output(rank))}
}

// lastLines returns the end of a text.
func lastLines(text string) string {
	const few = 5
	at := len(strings.TrimRight(text, "\n"))
	for range few {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// A launchedRank is what is known of a rank of a Job.
type launchedRank struct {
	killed atomic.Bool // by Kill

	mu   sync.Mutex
	text []byte        // what it has written
	more chan struct{} // closed when it writes more; nil if nobody waits for it
}

// mostOutput bounds what is kept of what a rank writes.
const mostOutput = 16 << 20

// Write keeps what the rank has written.
func (r *launchedRank) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.text)+len(b) > mostOutput {
		r.text = slices.Delete(r.text, 0, len(r.text)/2)
	}
	r.text = append(r.text, b...)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	return len(b), nil
}

// find reports whether the rank has written text, and returns a channel that is closed
// when it writes more.
func (r *launchedRank) find(text string) (found bool, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return bytes.Contains(r.text, []byte(text)), r.more
}

// A lockedWriter may be written to by any goroutine.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
