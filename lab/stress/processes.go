package stress

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// Options of a run.
type Options struct {
	Program  string        // executable whose main function calls Rank first
	Patience time.Duration // time without progress after which a job counts as stuck
	Only     string        // kinds of scenes, with commas; "" for all
	Spoil    string        // a fault that ranks commit on purpose, to test the checks
	Dir      string        // directory for reports of failures
	Verbose  bool
	Timed    bool // a job that takes long to end after a signal is a failure, too: the machine has time for it
}

// A Failure describes a job in which weft has broken a promise.
type Failure struct {
	Plan  Plan
	Found []string // the findings of the checks
	Dir   string   // directory with the state, the output of weft ps and of the ranks, and stacks; "" of a simulated job
}

// processes is the stage of a job of real processes.
type processes struct {
	Options
	*director
	dir    string
	began  time.Time
	notes  chan note
	events chan func()
	ps     string // what weft ps says about a stuck job
}

func (s *processes) now() time.Duration { return time.Since(s.began) }

func (s *processes) after(d time.Duration, f func()) { time.AfterFunc(d, func() { s.events <- f }) }

func (s *processes) kill(rank int) { _ = syscall.Kill(s.ranks[rank].pid, syscall.SIGKILL) }

func (s *processes) stop(rank int, _ time.Duration) {
	_ = syscall.Kill(s.ranks[rank].pid, syscall.SIGSTOP)
}

func (s *processes) resume(rank int) { _ = syscall.Kill(s.ranks[rank].pid, syscall.SIGCONT) }

// cut does nothing: plans for real networks have no cuts.
func (s *processes) cut(int, time.Duration) {}

// bury does nothing: the launcher tells the ranks that links do not tell.
func (s *processes) bury(int) {}

// excuses reports whether the machine has kept a rank from running.
func (s *processes) excuses(_, dead int) bool {
	p := s.ranks[dead]
	return max(p.silence, s.now()-p.beat) > s.plan.Liveness/2
}

// Run runs the job of a plan with real processes, and returns a Failure, or nil.
func Run(ctx context.Context, plan Plan, o Options) (*Failure, error) {
	if o.Only == endsKind {
		return runEnds(ctx, plan, o)
	}
	dir, err := os.MkdirTemp(o.Dir, fmt.Sprintf("weft-stress-%d-", plan.Seed))
	if err != nil {
		return nil, err
	}
	s := &processes{Options: o, dir: dir, began: time.Now(), notes: make(chan note, 1000), events: make(chan func(), 100)}
	s.director = newDirector(plan, s, o.Verbose)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	if len(s.broken) > 0 && s.states == "" {
		s.states = "(it was not stuck)"
	}
	if len(s.broken) == 0 {
		return nil, os.RemoveAll(dir)
	}
	text := fmt.Sprintf("%+v\n\n%s\n\n%s\n%s\n", plan, strings.Join(s.broken, "\n"), s.states, s.ps)
	return &Failure{plan, s.broken, dir}, os.WriteFile(filepath.Join(dir, "failure"), []byte(text), 0o600)
}

// run runs one job: it listens for the lines of the ranks, starts the launcher, and directs until the job has
// ended. All that the ranks print goes to a file, in which words such as DATA RACE are failures, too.
func (s *processes) run(ctx context.Context) error {
	path := filepath.Join(s.dir, "director")
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	defer listener.Close()
	output, err := os.Create(filepath.Join(s.dir, "output"))
	if err != nil {
		return err
	}
	defer output.Close()
	go s.accept(listener)
	job := launch.Job{
		Program: s.Program, N: s.plan.N, Pretend: s.plan.Hosts, Transport: s.plan.Transport, Liveness: s.plan.Liveness,
		Survive: true, Prefix: true, Stdout: output, Stderr: output, Report: output,
		Env: append(slices.Clone(s.plan.Env), fmt.Sprintf("%s=%d", envSeed, s.plan.Seed), envLine+"="+path,
			envOnly+"="+s.Only, envSpoil+"="+s.Spoil, "GOTRACEBACK=all", "GORACE=halt_on_error=1 atexit_sleep_ms=0"),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 1)
	result := make(chan launch.Result, 1)
	failed := make(chan error, 1)
	go func() {
		r, err := launch.Run(ctx, job, signals)
		if err != nil {
			failed <- err
			return
		}
		result <- r
	}()
	if err := s.direct(result, failed, signals, cancel); err != nil {
		return err
	}
	text, err := os.ReadFile(output.Name())
	for _, word := range []string{"DATA RACE", "panic: ", "fatal error: ", "SIGSEGV", "SIGBUS"} {
		if !s.stuck && bytes.Contains(text, []byte(word)) {
			s.broken = append(s.broken, "the output says "+word)
		}
	}
	return err
}

// accept takes the ranks' connections.
func (s *processes) accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		l := newLine(c)
		go func() {
			rank := -1
			_ = l.listen(func(n note) {
				if n.Kind == noteHello {
					rank = n.Rank
					n.tell = l.tell
				}
				s.notes <- n
			})
			if rank >= 0 {
				s.notes <- note{Kind: noteLost, Rank: rank}
			}
		}()
	}
}

// direct directs the job until it has ended.
func (s *processes) direct(result chan launch.Result, failed chan error, signals chan os.Signal, cancel func()) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	stuck := time.Time{}
	for {
		select {
		case n := <-s.notes:
			s.hear(n)
		case f := <-s.events:
			f()
		case r := <-result:
			if r.Rank >= 0 && !s.ranks[r.Rank].struck && !s.stuck {
				s.fail("rank %d ended with %s", r.Rank, r.Cause)
			}
			return nil
		case err := <-failed:
			return err
		case now := <-tick.C:
			switch {
			case !stuck.IsZero() && now.Sub(stuck) > 3*time.Second:
				cancel() // kills the ranks that are left
				stuck = now.Add(time.Hour)
			case stuck.IsZero() && s.now()-s.moved > s.Patience && !s.anyStopped():
				stuck = now
				s.explain(signals)
			}
		}
	}
}

// explain collects what is known about a stuck job, and ends it in a way that writes the ranks' stacks to its output.
func (s *processes) explain(signals chan os.Signal) {
	s.states = ""
	s.stuck = true
	s.fail("stuck in round %d: nothing has got on for %v", s.round, s.Patience)
	s.ps = "weft ps:\n"
	jobs, err := launch.Jobs(os.Getpid())
	if err != nil {
		s.ps += err.Error() + "\n"
	}
	for _, j := range jobs {
		var b strings.Builder
		_ = waitgraph.New(j.Ranks).WriteText(&b)
		s.ps += b.String()
	}
	s.all(note{Kind: noteDump})
	s.gather(2 * time.Second)
	for i, p := range s.ranks {
		before := s.moved
		if p.tell == nil || p.out {
			continue
		}
		p.tell(note{Kind: notePoke})
		if s.gather(time.Second / 2); s.moved != before {
			s.fail("it goes on when rank %d looks for packets: a wake-up was lost", i)
			break
		}
	}
	signals <- syscall.SIGQUIT
}

// gather handles notes of ranks for a while.
func (s *processes) gather(while time.Duration) {
	for end := time.After(while); ; {
		select {
		case n := <-s.notes:
			s.hear(n)
		case <-end:
			return
		}
	}
}
