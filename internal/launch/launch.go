package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"weft/internal/bootstrap"
)

// A Job says what to start.
type Job struct {
	Program   string // an executable
	Args      []string
	N         int      // ranks
	Hosts     int      // pretend that the ranks are on so many hosts, in turn; 0 means 1
	Transport string   // for the ranks; "" means auto
	Env       []string // besides our own environment

	Liveness time.Duration // for the ranks; 0 means their default
	Grace    time.Duration // from TERM to KILL; 0 means 2 s
	Timeout  time.Duration // of the job; 0 means none
	Survive  bool          // others go on when a rank fails

	Prefix         bool // put the rank before each line
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Report         io.Writer // where failures are told; nil for nowhere

	// Temp is a directory that is removed when the job ends, also when this
	// process is killed.
	Temp string
}

// A Result tells how a job ended.
type Result struct {
	Status int           // exit status: 0, or that of the first rank that failed
	Rank   int           // the first rank that failed, or -1
	Cause  string        // why
	CPU    time.Duration // used by all ranks
}

// rank is one process of a job.
type rank struct {
	number  int
	host    string
	cmd     *exec.Cmd
	began   time.Time
	pipes   []*os.File // the ends of its output that we read
	outputs sync.WaitGroup
	ended   bool
}

// end is what is known when a process has ended.
type end struct {
	r   *rank
	err error
}

// run is a job that is running.
type run struct {
	job     Job
	lab     []Host // that the job runs on, if it is in a lab
	id      uint64 // in the name of its socket, which everyone can read: not the job's
	hosts   []string
	started time.Time
	server  *bootstrap.Server
	guard   *guard
	out     *lines
	errs    *lines
	ranks   []*rank
	ends    chan end
	result  Result
}

// Run starts a job and returns when it has ended. Signals that arrive on the
// channel go to all ranks. When ctx ends the job is killed.
func Run(ctx context.Context, job Job, signals <-chan os.Signal) (Result, error) {
	if job.N < 1 {
		return Result{}, fmt.Errorf("weft: a job needs at least 1 rank, not %d", job.N)
	}
	var lab []Host // on which the ranks are placed in turn
	if job.Hosts <= 1 {
		var err error
		if lab, err = LabHosts(); err != nil {
			return Result{}, err
		}
		job.Hosts = len(lab)
	}
	job.Hosts = min(max(job.Hosts, 1), job.N)
	if job.Grace == 0 {
		job.Grace = 2 * time.Second
	}
	if job.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, job.Timeout, fmt.Errorf("the job's time of %v is over", job.Timeout))
		defer cancel()
	}
	// The kernel kills the ranks when the thread that started them ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := startGuard(job.Temp)
	if err != nil {
		return Result{}, err
	}
	defer g.stop()
	r := &run{
		job: job, lab: lab, guard: g, ends: make(chan end, job.N), result: Result{Rank: -1},
		out: &lines{to: job.Stdout}, errs: &lines{to: job.Stderr},
	}
	jobs := r.identities()
	r.server, r.id, r.started = bootstrap.NewServer(jobs), bootstrap.NewID(), time.Now()
	for _, j := range jobs {
		r.hosts = append(r.hosts, j.Host)
	}
	defer r.listen()()
	for i := range job.N {
		if err := r.start(i, jobs[i].Host); err != nil {
			r.killAll()
			for range r.ranks {
				r.collect(<-r.ends)
			}
			return r.result, err
		}
	}
	r.wait(ctx, signals)
	return r.result, nil
}

// identities returns what each rank is told.
func (r *run) identities() []bootstrap.Job {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	id, secret := bootstrap.NewID(), bootstrap.NewSecret()
	jobs := make([]bootstrap.Job, r.job.N)
	for i := range jobs {
		h := i % r.job.Hosts
		jobs[i] = bootstrap.Job{
			Rank: i, Size: r.job.N, ID: id, Secret: secret, Host: host,
			Local: (r.job.N - h + r.job.Hosts - 1) / r.job.Hosts, Crowd: r.job.N,
			Transport: r.job.Transport, Liveness: r.job.Liveness,
		}
		if r.job.Hosts > 1 {
			jobs[i].Host = fmt.Sprintf("%s.%d", host, h)
		}
		if len(r.lab) > 0 {
			jobs[i].Host = filepath.Base(r.lab[h].Namespace)
		}
	}
	return jobs
}

// start starts one rank.
func (r *run) start(i int, host string) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	p := &rank{number: i, host: host, began: time.Now()}
	p.cmd = exec.Command(r.job.Program, r.job.Args...)
	p.cmd.Env = append(append(os.Environ(), r.job.Env...), bootstrap.Env+"=3")
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(p.cmd.SysProcAttr)
	closeEnds, err := r.connect(p)
	if err != nil {
		ours.Close()
		return err
	}
	err = r.on(i, p.cmd)
	closeEnds()
	if err != nil {
		ours.Close()
		return fmt.Errorf("weft: rank %d: %w", i, err)
	}
	r.guard.add(p.cmd.Process.Pid)
	r.ranks = append(r.ranks, p)
	go func() {
		if err := r.server.Serve(i, ours); err != nil && r.job.Report != nil {
			fmt.Fprintf(r.job.Report, "weft run: %v\n", err)
		}
	}()
	go func() {
		err := p.cmd.Wait()
		kill(p, syscall.SIGKILL) // what the rank left behind in its group
		r.drain(p)
		r.ends <- end{p, err}
	}()
	return nil
}

// wait returns when all ranks have ended.
func (r *run) wait(ctx context.Context, signals <-chan os.Signal) {
	running := len(r.ranks)
	var grace <-chan time.Time
	done := ctx.Done()
	interrupts := 0
	for running > 0 {
		select {
		case e := <-r.ends:
			running--
			if r.collect(e) && grace == nil && !r.job.Survive && running > 0 {
				r.signal(syscall.SIGTERM)
				grace = time.After(r.job.Grace)
			}
		case s := <-signals:
			if s == os.Interrupt {
				interrupts++
			}
			if interrupts > 1 {
				r.killAll()
				continue
			}
			if s == syscall.SIGQUIT {
				r.explain()
			}
			r.signal(s.(syscall.Signal))
		case <-grace:
			r.killAll()
			grace = nil
		case <-done:
			done = nil
			if r.result.Rank < 0 && r.result.Status == 0 {
				r.result.Status, r.result.Cause = 124, context.Cause(ctx).Error()
				r.report("weft run: %s; ending the job\n", r.result.Cause)
			}
			r.killAll()
		}
	}
}

// collect takes note of a rank that has ended, and reports whether it failed.
func (r *run) collect(e end) (failed bool) {
	p := e.r
	p.ended = true
	state := p.cmd.ProcessState
	status, cause := 0, bootstrap.ErrExited.Error()
	if state != nil {
		r.result.CPU += state.UserTime() + state.SystemTime()
		status, cause = reason(state, cause)
	} else if e.err != nil {
		status, cause = 1, e.err.Error()
	}
	r.server.Down(p.number, cause)
	if status == 0 || r.result.Status != 0 {
		return status != 0
	}
	r.result.Status, r.result.Rank, r.result.Cause = status, p.number, cause
	after := time.Since(p.began).Round(time.Millisecond)
	next := "ending the others"
	if r.job.Survive || r.job.N == 1 {
		next = "the others go on"
	}
	if r.job.N == 1 {
		r.report("weft run: rank 0 on %s failed after %v: %s\n", p.host, after, cause)
	} else {
		r.report("weft run: rank %d on %s failed after %v: %s; %s\n", p.number, p.host, after, cause, next)
	}
	return true
}

// reason turns how a process ended into a status, as a shell would, and words.
func reason(state *os.ProcessState, fine string) (status int, cause string) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Signaled():
		return 128 + int(ws.Signal()), "signal: " + ws.Signal().String()
	case state.ExitCode() != 0:
		return state.ExitCode(), fmt.Sprintf("exit status %d", state.ExitCode())
	default:
		return 0, fine
	}
}

func (r *run) report(format string, args ...any) {
	if r.job.Report != nil {
		fmt.Fprintf(r.job.Report, format, args...)
	}
}

// signal sends a signal to the group of every rank that runs.
func (r *run) signal(s syscall.Signal) {
	for _, p := range r.ranks {
		if !p.ended {
			kill(p, s)
		}
	}
}

func (r *run) killAll() { r.signal(syscall.SIGKILL) }

// kill signals a rank's process group.
func kill(p *rank, s syscall.Signal) {
	if p.cmd.Process != nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
	}
}

// socketPair returns our end of a stream socket, and the rank's.
func socketPair() (ours io.ReadWriteCloser, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "rank"), os.NewFile(uintptr(fds[1]), "launcher"), nil
}
