package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
	Survive  bool          // others go on when a rank fails; one that a signal ended is forgiven if others end well

	Prefix         bool                     // put the rank before each line
	Tee            func(rank int) io.Writer // also gets what a rank writes; may be nil
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Report         io.Writer // where failures are told; nil for nowhere

	Restart int // how often the job has been started before

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

// A Running is a job that runs. Its methods may be called by any goroutine.
type Running struct {
	job     Job
	lab     []Host // that the job runs on, if it is in a lab
	id      uint64 // in the name of its socket, which everyone can read: not the job's
	hosts   []string
	started time.Time
	server  *bootstrap.Server
	guard   *guard
	out     *lines
	errs    *lines
	ranks   []*process
	ends    chan *process
	done    chan struct{} // closed when all ranks have ended
	verdict               // to be read when done is closed
}

// Run starts a job and returns when it has ended. Signals that arrive on the
// channel go to all ranks. When ctx ends the job is killed.
func Run(ctx context.Context, job Job, signals <-chan os.Signal) (Result, error) {
	r, err := Start(ctx, job, signals)
	if err != nil {
		return Result{}, err
	}
	return r.Wait(), nil
}

// Start starts a job and returns when all its ranks have been started. Signals
// that arrive on the channel go to all ranks. When ctx ends the job is killed.
func Start(ctx context.Context, job Job, signals <-chan os.Signal) (*Running, error) {
	if job.N < 1 {
		return nil, fmt.Errorf("weft: a job needs at least 1 rank, not %d", job.N)
	}
	var lab []Host // on which the ranks are placed in turn
	if job.Hosts <= 1 {
		var err error
		if lab, err = LabHosts(); err != nil {
			return nil, err
		}
		job.Hosts = len(lab)
	}
	job.Hosts = min(max(job.Hosts, 1), job.N)
	if job.Grace == 0 {
		job.Grace = 2 * time.Second
	}
	g, err := startGuard(job.Temp)
	if err != nil {
		return nil, err
	}
	r := &Running{
		job: job, lab: lab, guard: g, ends: make(chan *process, job.N), done: make(chan struct{}), verdict: verdict{result: Result{Rank: -1}},
		out: &lines{name: "standard output", to: job.Stdout}, errs: &lines{name: "standard error", to: job.Stderr},
	}
	jobs := r.identities()
	r.server, r.id, r.started = bootstrap.NewServer(jobs), bootstrap.NewID(), time.Now()
	for _, j := range jobs {
		r.hosts = append(r.hosts, j.Host)
	}
	started := make(chan error, 1)
	go r.run(ctx, signals, started)
	if err := <-started; err != nil {
		<-r.done
		return nil, err
	}
	return r, nil
}

// run starts the ranks, says so, and returns when they have ended. It has a thread
// of its own all the time: the kernel kills the ranks when the thread that started
// them ends.
func (r *Running) run(ctx context.Context, signals <-chan os.Signal, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.done)
	defer r.guard.stop()
	for i := range r.job.N {
		p, err := r.start(i)
		if err != nil {
			r.over = true
			r.killAll()
			for r.collected < len(r.ranks) {
				r.collect(<-r.ends)
			}
			started <- err
			return
		}
		r.ranks = append(r.ranks, p)
	}
	started <- nil
	defer r.listen()()
	if r.job.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.job.Timeout, fmt.Errorf("%w: %v", errTimeout, r.job.Timeout))
		defer cancel()
	}
	r.wait(ctx, signals)
}

// Wait returns when all ranks have ended.
func (r *Running) Wait() Result {
	<-r.done
	return r.result
}

// Done returns a channel that is closed when all ranks have ended.
func (r *Running) Done() <-chan struct{} { return r.done }

// identities returns what each rank is told.
func (r *Running) identities() []bootstrap.Job {
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

// errTimeout is why a job ends whose time is over.
var errTimeout = errors.New("the job's time is over")

// wait returns when all ranks have ended.
func (r *Running) wait(ctx context.Context, signals <-chan os.Signal) {
	var grace <-chan time.Time
	done := ctx.Done()
	interrupts := 0
	for r.collected < len(r.ranks) {
		select {
		case p := <-r.ends:
			if r.collect(p) && grace == nil && !r.job.Survive {
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
			r.interrupt(s.(syscall.Signal))
			r.signal(s.(syscall.Signal))
		case <-grace:
			r.killAll()
			grace = nil
		case <-done:
			done = nil
			r.expire(context.Cause(ctx))
			r.killAll()
		}
	}
	r.judge()
}

func (r *Running) report(format string, args ...any) { r.job.report(format, args...) }

// signal sends a signal to the group of every rank that runs.
func (r *Running) signal(s syscall.Signal) {
	for _, p := range r.ranks {
		p.signal(s)
	}
}

func (r *Running) killAll() { r.signal(syscall.SIGKILL) }
