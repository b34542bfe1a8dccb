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
	"sync"
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
}

// A Failure describes a job in which weft has broken a promise.
type Failure struct {
	Plan  Plan
	Found []string // the findings of the checks
	Dir   string   // directory with the state, the output of weft ps and of the ranks, and stacks
}

// A director runs one job.
type director struct {
	Options
	plan  Plan
	dir   string
	notes chan note
	ranks []*player
	round int
	ended bool

	suspended bool      // all ranks are stopped
	resumed   time.Time // when all ranks were continued

	meets  map[string][]int // by meeting place, the ranks that have arrived
	met    map[string]bool  // meeting places at which all ranks have arrived
	clocks map[string]*clocking
	moved  time.Time // when a rank last made progress
	broken []string  // findings
	ps     string
	states string
}

// A player is the director's state of a rank.
type player struct {
	line     *line
	pid      int
	progress uint64
	done     int       // the last round that it has finished, -1 at first
	struck   bool      // it may be dead, for whatever reason
	stopped  bool      // a signal has stopped it
	outcast  bool      // it stays stopped until the other ranks must have taken it for dead
	bye, out bool      // it has said that it leaves; its connection has ended
	beat     time.Time // when it last sent something
	silence  time.Duration
}

// Run runs the job of a plan, and returns a Failure, or nil.
func Run(ctx context.Context, plan Plan, o Options) (*Failure, error) {
	dir, err := os.MkdirTemp(o.Dir, fmt.Sprintf("weft-stress-%d-", plan.Seed))
	if err != nil {
		return nil, err
	}
	d := &director{Options: o, plan: plan, dir: dir, notes: make(chan note, 1000), round: -1, meets: map[string][]int{},
		met: map[string]bool{}, clocks: map[string]*clocking{}, moved: time.Now()}
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	if len(d.broken) > 0 && d.states == "" {
		d.states = "(it was not stuck)"
	}
	if len(d.broken) == 0 {
		return nil, os.RemoveAll(dir)
	}
	text := fmt.Sprintf("%+v\n\n%s\n\n%s\n%s\n", plan, strings.Join(d.broken, "\n"), d.states, d.ps)
	return &Failure{plan, d.broken, dir}, os.WriteFile(filepath.Join(dir, "failure"), []byte(text), 0o600)
}

// run runs one job: it listens for the lines of the ranks, starts the launcher, and directs until the job has
// ended. All that the ranks print goes to a file, in which words such as DATA RACE are failures, too.
func (d *director) run(ctx context.Context) error {
	path := filepath.Join(d.dir, "director")
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	defer listener.Close()
	output, err := os.Create(filepath.Join(d.dir, "output"))
	if err != nil {
		return err
	}
	defer output.Close()
	for range d.plan.N {
		d.ranks = append(d.ranks, &player{done: -1})
	}
	var lines sync.WaitGroup
	go d.accept(listener, &lines)
	job := launch.Job{
		Program: d.Program, N: d.plan.N, Pretend: d.plan.Hosts, Transport: d.plan.Transport, Liveness: d.plan.Liveness,
		Survive: true, Prefix: true, Stdout: output, Stderr: output, Report: output,
		Env: append(slices.Clone(d.plan.Env), fmt.Sprintf("%s=%d", envSeed, d.plan.Seed), envLine+"="+path,
			envOnly+"="+d.Only, envSpoil+"="+d.Spoil, "GOTRACEBACK=all", "GORACE=halt_on_error=1 atexit_sleep_ms=0"),
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
	if err := d.direct(result, failed, signals, cancel); err != nil {
		return err
	}
	text, err := os.ReadFile(output.Name())
	for _, word := range []string{"DATA RACE", "panic: ", "fatal error: ", "SIGSEGV", "SIGBUS"} {
		if len(d.ps) == 0 && bytes.Contains(text, []byte(word)) {
			d.broken = append(d.broken, "the output says "+word)
		}
	}
	return err
}

// accept takes the ranks' connections.
func (d *director) accept(listener net.Listener, group *sync.WaitGroup) {
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
					n.from = l
				}
				d.notes <- n
			})
			if rank >= 0 {
				d.notes <- note{Kind: noteLost, Rank: rank}
			}
		}()
	}
}

// direct directs the job until it has ended.
func (d *director) direct(result chan launch.Result, failed chan error, signals chan os.Signal, cancel func()) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var strikes <-chan time.Time
	var begun time.Time
	pending := d.plan.Strikes
	stuck := time.Time{}
	hellos := 0
	next := func() { // sets the time of the next strike of this round
		strikes = nil
		if len(pending) > 0 && pending[0].round == d.round && hellos == d.plan.N {
			strikes = time.After(time.Until(begun.Add(pending[0].after)))
		}
	}
	goOn := func() { // begins the next round if this one has ended
		if hellos < d.plan.N || !d.idle() {
			return
		}
		d.round++
		begun = time.Now()
		for len(pending) > 0 && pending[0].round < d.round { // the round was over before
			pending = pending[1:]
		}
		d.begin()
		next()
	}
	wakes := make(chan strike, 100)
	for {
		select {
		case n := <-d.notes:
			if n.Kind == noteHello {
				hellos++
			}
			if d.hear(n) {
				goOn()
			}
		case <-strikes:
			s := pending[0]
			pending = pending[1:]
			d.strike(s, wakes)
			next()
			goOn() // this rank may have been the last
		case s := <-wakes:
			d.wake(s, wakes)
		case r := <-result:
			if r.Rank >= 0 && !d.ranks[r.Rank].struck && d.ps == "" {
				d.fail("rank %d ended with %s", r.Rank, r.Cause)
			}
			return nil
		case err := <-failed:
			return err
		case now := <-tick.C:
			switch {
			case !stuck.IsZero() && now.Sub(stuck) > 3*time.Second:
				cancel() // kills the ranks that are left
				stuck = now.Add(time.Hour)
			case stuck.IsZero() && now.Sub(d.moved) > d.Patience && !d.anyStopped():
				stuck = now
				d.explain(signals)
			}
		}
	}
}

// fail notes a failure, each once, and at most 50 of them.
func (d *director) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(d.broken, text) && len(d.broken) < 50 {
		d.broken = append(d.broken, text)
	}
	if d.Verbose {
		fmt.Fprintln(os.Stderr, "stress:", text)
	}
}

// all tells a note to every rank that has come and is still there.
func (d *director) all(n note) {
	for _, p := range d.ranks {
		if p.line != nil && !p.out {
			p.line.tell(n)
		}
	}
}

// meet lets the ranks at a meeting place go on when all that have not been struck have arrived.
func (d *director) meet(place string, members []int) {
	d.meets[place+" members"] = members
	for _, m := range members {
		if !d.ranks[m].struck && !slices.Contains(d.meets[place], m) {
			return
		}
	}
	for _, m := range d.meets[place] {
		if p := d.ranks[m]; !p.out {
			p.line.tell(note{Kind: noteMet, Text: place})
		}
	}
	d.met[place] = true
	d.meets[place] = nil
	delete(d.meets, place+" members")
}

// excused checks all meeting places again, after a rank was struck.
func (d *director) excused() {
	for place := range d.meets {
		if members, ok := d.meets[place+" members"]; ok {
			d.meet(place, members)
		}
	}
}

// idle reports whether all ranks that are left have finished the round.
func (d *director) idle() bool {
	for _, p := range d.ranks {
		if !p.struck && p.done != d.round {
			return false
		}
	}
	return true
}

// begin begins a round, or ends the job.
func (d *director) begin() {
	var left []int
	for i, p := range d.ranks {
		if !p.struck {
			left = append(left, i)
		}
	}
	n := note{Kind: noteRound, N: uint64(d.round), Ranks: left}
	if slices.ContainsFunc(d.plan.Strikes, func(s strike) bool { return s.how == outcast }) {
		n.Text = newChannels // a rank that was stopped may still send to the old channels
	}
	if d.round >= d.plan.Rounds {
		if d.ended {
			return
		}
		d.ended = true
		n = note{Kind: noteEnd}
		for _, p := range d.ranks {
			p.struck = true // from now on each may leave
		}
	}
	for _, i := range left {
		d.ranks[i].line.tell(n)
	}
}

// explain collects what is known about a stuck job, and ends it in a way that writes the ranks' stacks to its output.
func (d *director) explain(signals chan os.Signal) {
	d.states = ""
	d.fail("stuck in round %d: nothing has got on for %v", d.round, d.Patience)
	d.ps = "weft ps:\n"
	jobs, err := launch.Jobs(os.Getpid())
	if err != nil {
		d.ps += err.Error() + "\n"
	}
	for _, j := range jobs {
		var b strings.Builder
		_ = waitgraph.New(j.Ranks).WriteText(&b)
		d.ps += b.String()
	}
	d.all(note{Kind: noteDump})
	d.gather(2 * time.Second)
	for i, p := range d.ranks {
		before := d.moved
		if p.line == nil || p.out {
			continue
		}
		p.line.tell(note{Kind: notePoke})
		if d.gather(time.Second / 2); d.moved != before {
			d.fail("it goes on when rank %d looks for packets: a wake-up was lost", i)
			break
		}
	}
	signals <- syscall.SIGQUIT
}

// gather handles notes of ranks for a while, without beginning a round.
func (d *director) gather(while time.Duration) {
	for end := time.After(while); ; {
		select {
		case n := <-d.notes:
			d.hear(n)
		case <-end:
			return
		}
	}
}
