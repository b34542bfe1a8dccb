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

// Options say how jobs are run.
type Options struct {
	Program  string // that calls Rank first
	Patience time.Duration
	Only     string // kinds of scenes
	Spoil    string // what ranks do wrong, to test the checks
	Dir      string // where what is known of failures is kept
	Verbose  bool
}

// A Failure is a job in which weft has not kept a promise.
type Failure struct {
	Plan  Plan
	Found []string // what the checks say
	Dir   string   // what is kept: state, what weft ps says, output and stacks
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
	resumed   time.Time // when all went on

	meets  map[string][]int // which ranks have come to a place
	met    map[string]bool  // places where all have been
	clocks map[string]*clocking
	moved  time.Time // when a rank has last got on
	broken []string  // failures
	ps     string
	states string
}

// A player is a rank as the director knows it.
type player struct {
	line     *line
	pid      int
	progress uint64
	done     int       // the last round that it has ended, -1 at first
	struck   bool      // it may be gone, for whatever reason
	stopped  bool      // by a signal
	outcast  bool      // until others have had the time to notice
	bye, out bool      // it says that it leaves; its connection has ended
	beat     time.Time // when it was last heard of
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
					d.ranks[rank].line = l
				}
				d.notes <- n
			})
			if rank >= 0 {
				d.notes <- note{Kind: noteLost, Rank: rank}
			}
		}()
	}
}

// direct leads the job until it has ended.
func (d *director) direct(result chan launch.Result, failed chan error, signals chan os.Signal, cancel func()) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var strikes <-chan time.Time
	var begun time.Time
	pending := d.plan.Strikes
	stuck := time.Time{}
	hellos := 0
	next := func() { // the time of the next strike of this round
		strikes = nil
		if len(pending) > 0 && pending[0].round == d.round && hellos == d.plan.N {
			strikes = time.After(time.Until(begun.Add(pending[0].after)))
		}
	}
	goOn := func() { // to the next round, if this one has ended
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
			goOn() // the others may have waited for this rank
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
				cancel() // kills what is left
				stuck = now.Add(time.Hour)
			case stuck.IsZero() && now.Sub(d.moved) > d.Patience && !d.anyStopped():
				stuck = now
				d.explain(signals)
			}
		}
	}
}

func (d *director) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(d.broken, text) && len(d.broken) < 50 {
		d.broken = append(d.broken, text)
	}
	if d.Verbose {
		fmt.Fprintln(os.Stderr, "stress:", text)
	}
}

// hear takes a note of a rank, and reports whether a round may have ended with it.
func (d *director) hear(n note) bool {
	p := d.ranks[n.Rank]
	now := time.Now()
	if !p.beat.IsZero() && !p.stopped {
		p.silence = max(p.silence, now.Sub(p.beat))
	}
	p.beat = now
	if n.Kind != noteBeat && n.Kind != noteState {
		d.moved = now
	}
	switch n.Kind {
	case noteHello:
		p.pid = int(n.N)
		return true
	case noteBeat:
		if n.N != p.progress {
			p.progress = n.N
			d.moved = now
		}
	case noteMeet:
		if p.struck && d.met[n.Text] { // the others have not waited for it
			p.line.tell(note{Kind: noteMet, Text: n.Text})
			break
		}
		if !slices.Contains(d.meets[n.Text], n.Rank) {
			d.meets[n.Text] = append(d.meets[n.Text], n.Rank)
		}
		d.meet(n.Text, n.Ranks)
	case noteFound:
		if len(d.broken) == 0 {
			d.all(note{Kind: noteDump}) // while it is known how everything was sent
		}
		d.fail("rank %d: %s", n.Rank, n.Text)
	case noteError:
		d.error(n)
	case noteTimes:
		name, _, _ := strings.Cut(n.Text, ";")
		if d.clocks[name] == nil {
			d.clocks[name] = &clocking{}
		}
		if phase := d.clocks[name].add(n.Text); phase >= 0 {
			d.fail("%s: rank %d or another was over with phase %d before all had arrived", name, n.Rank, phase)
		}
	case noteDone:
		p.done = int(n.N)
		return true
	case noteState:
		d.states += n.Text
	case noteBye: // Main may wait for the others yet
		p.bye = true
		d.all(note{Kind: noteLeft, Rank: n.Rank})
	case noteLost:
		return d.lost(n.Rank)
	}
	return false
}

// error judges an error that a rank has got from weft because another is gone.
func (d *director) error(n note) {
	if d.ended {
		return
	}
	if len(n.Ranks) > 0 {
		if p := d.ranks[n.Ranks[0]]; !p.struck && !d.ranks[n.Rank].struck {
			if silence := time.Since(p.beat); p.silence > d.plan.Liveness/2 || !p.stopped && silence > d.plan.Liveness/2 {
				return // the machine has kept it from running
			}
			d.fail("rank %d: %s, but nothing has happened to it", n.Rank, n.Text)
		}
		return
	}
	for _, p := range d.ranks {
		if p.struck {
			return
		}
	}
	d.fail("rank %d: %s, and nothing has happened to any rank", n.Rank, n.Text)
}

// lost takes note that a rank's process has ended.
func (d *director) lost(rank int) bool {
	p := d.ranks[rank]
	p.out = true
	if !p.struck && !p.bye && d.ps == "" {
		d.fail("rank %d has ended by itself in round %d", rank, d.round)
	}
	p.struck = true
	d.excused()
	return true
}

func (d *director) all(n note) {
	for _, p := range d.ranks {
		if !p.out {
			p.line.tell(n)
		}
	}
}

// meet lets ranks go on that have all come to a place, but for those that were struck.
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

// excused looks again where ranks meet, after one was struck.
func (d *director) excused() {
	for place := range d.meets {
		if members, ok := d.meets[place+" members"]; ok {
			d.meet(place, members)
		}
	}
}

// idle reports whether all ranks that are left have ended the round.
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
		n.Text = newChannels // one that is back may still send to the old ones
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

// strike strikes a rank.
func (d *director) strike(s strike, wakes chan strike) {
	d.moved = time.Now()
	p := d.ranks[s.rank]
	if s.how != stopAll && (p.out || p.stopped || p.struck) || d.ended || d.suspended {
		return
	}
	if d.Verbose {
		fmt.Fprintln(os.Stderr, "stress:", s)
	}
	p.struck = p.struck || s.removes()
	switch s.how {
	case kill:
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	case stop, outcast:
		p.outcast = s.how == outcast
		d.halt(p)
		time.AfterFunc(s.lasts, func() { wakes <- s })
	case stopAll:
		d.suspended = true
		for _, p := range d.ranks {
			if !p.out && !p.stopped {
				d.halt(p)
			}
		}
		time.AfterFunc(s.lasts, func() { wakes <- s })
	default:
		p.line.tell(note{Kind: noteLeave, Text: s.how})
	}
	if s.removes() {
		d.excused()
	}
}

func (d *director) halt(p *player) {
	p.stopped = true
	_ = syscall.Kill(p.pid, syscall.SIGSTOP)
}

// wake lets ranks go on that were stopped. An outcast is told to leave: it stays away until
// the others have lived for so long without it that they must have taken it for dead.
func (d *director) wake(s strike, wakes chan strike) {
	d.moved = time.Now()
	early := s.how == outcast && d.moved.Sub(d.resumed) < s.lasts
	if s.how != stopAll && (d.suspended || early) {
		time.AfterFunc(100*time.Millisecond, func() { wakes <- s })
		return
	}
	if s.how == stopAll {
		d.suspended = false
		d.resumed = d.moved
	} else {
		d.ranks[s.rank].outcast = false
	}
	for i, p := range d.ranks {
		if p.out || p.outcast || s.how != stopAll && i != s.rank {
			continue
		}
		if p.stopped {
			p.stopped = false
			p.beat = d.moved
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
		if s.how == outcast {
			p.line.tell(note{Kind: noteLeave, Text: goHomeLast})
		}
	}
}

func (d *director) anyStopped() bool {
	return slices.ContainsFunc(d.ranks, func(p *player) bool { return p.stopped && !p.out })
}

// explain collects what is known of a job that is stuck, and ends it with the ranks'
// stacks in its output.
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
		if p.out {
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

// gather hears what ranks say for a while, and what they find does not begin a round.
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
