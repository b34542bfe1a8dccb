package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/hostlist"
	"weft/internal/process"
)

// A Job says what to start.
type Job struct {
	Program   string // an executable
	Args      []string
	N         int    // ranks
	Pretend   int    // pretend that the ranks are on this many hosts, in turn; 0 means 1
	Transport string // of the ranks; "" means auto

	Hosts   []hostlist.Host // for the ranks; nil for this host
	Counts  []int           // number of ranks on each host: see Spread
	Way     Way             // the command that reaches the hosts
	Agent   string          // path of weft on the hosts
	Version string          // of weft, which must be the same on the hosts
	Fanout  int             // agents that one host starts; 0 means 16
	Copy    bool            // copy the program to hosts that do not have it

	Bind Binding  // which processors ranks may run on
	Env  []string // added to this process's environment

	Liveness time.Duration // for the ranks; 0 means their default
	Grace    time.Duration // from the first signal that ends the job to KILL; 0 means DefaultGrace
	Timeout  time.Duration // of the job; 0 means none
	Survive  bool          // other ranks go on when one fails; a rank that a signal ended does not make the job fail

	Prefix         bool                     // put the rank before each line
	Tee            func(rank int) io.Writer // also gets what a rank writes; may be nil
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Report         io.Writer // gets a line for each failure; nil for none

	Timeline string // file for the timeline; "" for none
	Restart  int    // how often the job has been started before

	// Page, unless nil, begins to serve a page about the job. It is called before the ranks start, so that an address in
	// use is an error at once, and what it returns is closed when they have ended.
	Page func(*Running) (io.Closer, error)
}

// DefaultGrace is short enough for a job to end within two seconds, whatever its ranks do.
const DefaultGrace = 1500 * time.Millisecond

// A Result is how a job has ended.
type Result struct {
	Status int           // exit status: 0, or that of the first rank that failed
	Rank   int           // the first rank that failed, or -1
	Cause  string        // why it failed, or ""
	CPU    time.Duration // used by all ranks
}

// A Running is a running job. Its methods may be called by any goroutine.
type Running struct {
	job      Job
	id       uint64 // in the name of its socket, which every user can read, so not the job's own number
	started  time.Time
	server   *bootstrap.Server
	hosts    []host
	out      *lines
	errs     *lines
	ranks    []*rank
	ends     chan *rank
	done     chan struct{} // closed when all ranks have ended
	timeline *os.File      // or nil
	page     io.Closer     // or nil
	verdict                // valid when done is closed
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
	if job.Grace == 0 {
		job.Grace = DefaultGrace
	}
	r := &Running{
		job: job, ends: make(chan *rank, job.N), done: make(chan struct{}), verdict: verdict{result: Result{Rank: -1}},
		out: &lines{name: "standard output", to: job.Stdout}, errs: &lines{name: "standard error", to: job.Stderr},
	}
	places, err := r.places(ctx, signals)
	if err != nil {
		r.closeHosts()
		return nil, err
	}
	for i := range job.N {
		r.ranks = append(r.ranks, &rank{number: i, place: places[i], ended: make(chan struct{})})
	}
	r.server = bootstrap.NewServer(r.identities())
	r.id = bootstrap.NewID()
	r.started = time.Now()
	err = r.openTimeline()
	if err == nil && job.Page != nil {
		r.page, err = job.Page(r)
	}
	if err != nil {
		r.closeHosts()
		return nil, err
	}
	if err := r.startAll(); err != nil {
		r.closePage()
		r.closeHosts()
		return nil, err
	}
	go r.run(ctx, signals)
	return r, nil
}

// startAll starts all ranks, on different hosts at the same time. If a rank cannot be started, it kills the others and
// returns when they have ended.
func (r *Running) startAll() error {
	var starting sync.WaitGroup
	var failed atomic.Bool
	errs := make([]error, r.job.N)
	var began atomic.Int32
	for _, h := range r.hosts {
		starting.Go(func() {
			var here sync.WaitGroup
			turns := make(chan struct{}, startsAtOnce(h))
			for i, k := range r.ranks {
				if k.place.host != h {
					continue
				}
				if turns <- struct{}{}; failed.Load() {
					break
				}
				here.Go(func() {
					if errs[i] = r.start(k); errs[i] == nil {
						began.Add(1)
					} else {
						failed.Store(true)
					}
					<-turns
				})
			}
			here.Wait()
		})
	}
	starting.Wait()
	if !failed.Load() {
		return nil
	}
	r.over = true
	r.killAll()
	for r.collected < int(began.Load()) {
		r.take(<-r.ends)
		r.collect()
	}
	return errors.Join(errs...)
}

// startsAtOnce is how many ranks a host starts at a time: one on this host, and on others enough to hide the time that
// messages take.
func startsAtOnce(h host) int {
	if _, here := h.(*process.Host); here {
		return 1
	}
	return 32
}

// run returns when all ranks have ended.
func (r *Running) run(ctx context.Context, signals <-chan os.Signal) {
	defer close(r.done)
	defer r.closeHosts()
	defer Listen(r.id, r.Status)()
	if r.job.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.job.Timeout, fmt.Errorf("%w: %v", errTimeout, r.job.Timeout))
		defer cancel()
	}
	defer r.closePage()
	r.wait(ctx, signals)
	r.writeTimeline()
}

func (r *Running) closePage() {
	if r.page != nil {
		_ = r.page.Close()
	}
}

// closeHosts closes all hosts. This host is the last, since the commands that reach the others are its processes.
func (r *Running) closeHosts() {
	if len(r.hosts) == 0 {
		return
	}
	var closing sync.WaitGroup
	for _, h := range r.hosts[1:] {
		closing.Go(func() { _ = h.Close() }) // all of its ranks have ended already
	}
	closing.Wait()
	_ = r.hosts[0].Close()
}

// Wait returns when all ranks have ended.
func (r *Running) Wait() Result {
	<-r.done
	return r.result
}

// ID returns the number of the job, by which its ranks' pages of counters are found.
func (r *Running) ID() uint64 { return r.server.Job(0).ID }

// Done returns a channel that is closed when all ranks have ended.
func (r *Running) Done() <-chan struct{} { return r.done }

// identities returns the description of the job for each rank.
func (r *Running) identities() []bootstrap.Job {
	id := bootstrap.NewID()
	secret := bootstrap.NewSecret()
	local := map[string]int{}
	crowd := map[string]int{}
	for _, k := range r.ranks {
		local[k.place.name]++
		crowd[k.place.container]++
	}
	jobs := make([]bootstrap.Job, r.job.N)
	for i, k := range r.ranks {
		jobs[i] = bootstrap.Job{
			Rank: i, Size: r.job.N, ID: id, Secret: secret, Host: k.place.name,
			Local: local[k.place.name], Crowd: k.place.crowd(crowd),
			Transport: r.job.Transport, Liveness: r.job.Liveness,
		}
	}
	return jobs
}

// errTimeout is why a job was ended after its timeout.
var errTimeout = errors.New("the job's time is over")

// An ending is how far the launcher has gone in ending a job.
//
//	state     what has been done                                   until
//	running   nothing                                              a rank fails, a signal or a timeout comes
//	asked     ranks have got a signal on which programs end        Grace is over
//	recorded  ranks have been asked for their timelines, if any    recordTime is over
//	killed    ranks have been killed
type ending uint8

const (
	running ending = iota
	asked
	recorded
	killed
)

// recordTime is how long ranks that are about to be killed have to send their timelines.
const recordTime = 300 * time.Millisecond

// wait returns when all ranks have ended.
func (r *Running) wait(ctx context.Context, signals <-chan os.Signal) {
	var next <-chan time.Time
	state := running
	end := func(s syscall.Signal) {
		r.signal(s)
		if state == running {
			state = asked
			next = time.After(r.job.Grace)
		}
	}
	done := ctx.Done()
	interrupts := 0
	for r.collected < len(r.ranks) {
		select {
		case k := <-r.ends:
			r.take(k)
		case <-r.late:
			r.giveUp()
		case s := <-signals:
			if s == os.Interrupt {
				interrupts++
			}
			switch sig := s.(syscall.Signal); { //nolint:forcetypeassert // all signals of this system are
			case interrupts > 1:
				r.killAll()
			case r.interrupt(sig):
				end(sig)
			default:
				r.signal(sig)
			}
		case <-next:
			if next = nil; state == asked && r.timeline != nil {
				state = recorded
				r.server.AskRecords()
				next = time.After(recordTime)
				continue
			}
			state = killed
			r.report("weft run: %s did not end within %v; killing them\n", failure.Ranks(r.left()), r.job.Grace)
			r.killAll()
		case <-done:
			done = nil
			if cause := context.Cause(ctx); r.expire(cause) {
				end(syscall.SIGTERM)
			} else {
				r.killAll()
			}
		}
		if r.collect() && state == running && !r.job.Survive {
			end(syscall.SIGTERM)
		}
	}
	r.judge()
}

// left returns the ranks that have not ended.
func (r *Running) left() (ranks []int) {
	for _, k := range r.ranks {
		if !isClosed(k.ended) {
			ranks = append(ranks, k.number)
		}
	}
	return ranks
}

func (r *Running) report(format string, args ...any) { r.job.report(format, args...) }

// signal sends a signal to the group of every rank that runs.
func (r *Running) signal(s syscall.Signal) {
	for _, k := range r.ranks {
		k.signal(s)
	}
}

func (r *Running) killAll() { r.signal(syscall.SIGKILL) }
