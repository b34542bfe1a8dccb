package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"weft/internal/agent"
	"weft/internal/bootstrap"
	"weft/internal/process"
	"weft/internal/sys"
)

// A Way is a command that runs a command line on another host, such as ssh.
type Way struct {
	Command []string // the command with its options: the host and the command line are appended
	Shell   bool     // a shell of the host interprets the command line
}

// Bounds of the tree of agents.
const (
	defaultFanout = 16               // agents that one host starts
	startTime     = 30 * time.Second // within which an agent must send its Hello
	branchTime    = 10 * time.Second // the same for an agent that the launcher can start itself if this fails
)

// A site is one host of the job's list that is being connected.
type site struct {
	name   string
	count  int  // number of ranks
	here   bool // the name means this host
	remote *agent.Remote
	reply  agent.Reply
	where  sys.Identity
	cores  [][]int
	cpus   float64 // see sys.CPUs
	err    error
	ready  chan struct{} // closed when the agent has answered Begin, or err is set
}

// An InterruptedError reports that a signal arrived before the ranks had been started.
type InterruptedError struct{ Signal syscall.Signal }

func (e *InterruptedError) Error() string {
	return "weft: " + e.Signal.String() + " before the ranks had been started"
}

// onHosts places the ranks on the hosts of the job's list.
func (r *Running) onHosts(ctx context.Context, local *process.Host, signals <-chan os.Signal) ([]place, error) {
	ctx, stop := interruptible(ctx, signals)
	defer stop()
	sites := make([]*site, len(r.job.Hosts))
	for i, h := range r.job.Hosts {
		sites[i] = &site{name: h.Name, count: r.job.Counts[i], ready: make(chan struct{})}
	}
	if err := r.reach(ctx, local, sites); err != nil {
		if e := new(InterruptedError); errors.As(context.Cause(ctx), &e) {
			return nil, e
		}
		return nil, err
	}
	return r.assign(local, sites)
}

// interruptible returns a context that ends when a signal asks this process to end.
func interruptible(ctx context.Context, signals <-chan os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-signals:
				switch s {
				case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
					cancel(&InterruptedError{s.(syscall.Signal)})
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// reach makes all sites ready: it starts an agent on each host that has ranks and is not this one. The launcher starts
// as many agents as the fan-out, and those start the others, as a tree.
func (r *Running) reach(ctx context.Context, local *process.Host, sites []*site) error {
	begin, err := r.begin()
	if err != nil {
		return err
	}
	var looked sync.WaitGroup
	for _, s := range sites {
		looked.Go(func() { s.here = agent.IsHere(s.name) })
	}
	looked.Wait()
	var far []*site
	for _, s := range sites {
		if s.here || s.count == 0 {
			close(s.ready)
			continue
		}
		far = append(far, s)
	}
	var reached sync.WaitGroup
	for i, s := range far {
		var parent *site
		if i >= r.fanout() {
			parent = far[i/r.fanout()-1]
		}
		reached.Go(func() {
			defer close(s.ready)
			s.err = r.connect(ctx, local, s, parent, r.job.N+i, begin)
		})
	}
	reached.Wait()
	for i := range far { // parents come before their children
		if far[i].remote != nil {
			r.hosts = append(r.hosts, far[i].remote)
		}
	}
	return failures(far)
}

func (r *Running) fanout() int {
	if r.job.Fanout > 0 {
		return r.job.Fanout
	}
	return defaultFanout
}

// failures joins the errors of sites.
func failures(sites []*site) error {
	var errs []error
	for _, s := range sites {
		if s.err != nil {
			errs = append(errs, s.err)
		}
	}
	const few = 10
	if len(errs) > few {
		errs = append(errs[:few], fmt.Errorf("weft: and %d more hosts", len(errs)-few))
	}
	return errors.Join(errs...)
}

// connect starts the agent of a site: through the agent of its parent if it has one, or else, and if that fails, from
// this host.
func (r *Running) connect(ctx context.Context, local *process.Host, s, parent *site, id int,
	begin agent.Begin) (err error) {
	order := r.agentOrder(id, s.name)
	if parent != nil {
		select {
		case <-parent.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if parent.remote != nil && parent.err == nil {
			s.remote, _ = r.hello(ctx, branchTime, s.name, parent.remote, order) // on failure this host does it
		}
	}
	if s.remote == nil {
		if s.remote, err = r.hello(ctx, startTime, s.name, local, order); err != nil {
			s.remote = nil
			return err
		}
	}
	if err := r.fits(s.remote); err != nil {
		return err
	}
	s.where = s.remote.Hello.Where
	s.cores = s.remote.Hello.Cores
	s.cpus = s.remote.Hello.CPUs
	if silence := r.silence(); silence > 0 {
		s.remote.Watch(2*silence/beats, silence)
	}
	defer context.AfterFunc(ctx, func() { _ = s.remote.Close() })()
	begin.Name = s.name
	s.reply, err = s.remote.Begin(begin)
	return err
}

// A starter is a host that can start an agent: this one or a Remote.
type starter interface {
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)
	Signal(id int, s syscall.Signal) bool
}

// hello starts an agent and waits for its Hello.
func (r *Running) hello(ctx context.Context, most time.Duration, name string, via starter,
	o process.Order) (*agent.Remote, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no agent has answered within %v", most))
	defer cancel()
	return agent.Connect(ctx, name, via, o)
}

// agentOrder returns the command that starts the agent of a host.
func (r *Running) agentOrder(id int, name string) process.Order {
	way := r.job.Way
	words := []string{r.job.Agent, "agent"}
	if way.Shell {
		words = []string{"exec " + quoteShell(r.job.Agent) + " agent"}
	}
	args := append(append([]string(nil), way.Command[1:]...), name)
	return process.Order{ID: id, Program: way.Command[0], Args: append(args, words...), Detached: true}
}

// quoteShell quotes a word for a shell, if it needs that.
func quoteShell(word string) string {
	plain := strings.IndexFunc(word, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+=:,@", c))
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// fits returns an error if an agent's host or version does not suit the job.
func (r *Running) fits(a *agent.Remote) error {
	h := a.Hello
	switch {
	case h.OS != runtime.GOOS || h.Arch != runtime.GOARCH:
		return fmt.Errorf("weft: host %s: it is %q, and the program is for %q", a.Name, h.OS+"/"+h.Arch,
			runtime.GOOS+"/"+runtime.GOARCH)
	case h.Version != r.job.Version:
		return fmt.Errorf("weft: host %s: it has %q, and here is %q; install the same", a.Name, h.Version, r.job.Version)
	}
	return nil
}

// beats is how many times each side sends something in the time of silence.
const beats = 8

// silence is the time without a message after which a host counts as dead, or negative for never. It is shorter than
// the ranks' liveness time, so that the report names the host and not a rank that missed it.
func (r *Running) silence() time.Duration {
	const least = time.Second // an agent may have to wait for a processor
	switch l := r.job.Liveness; {
	case l < 0:
		return -1
	case l == 0:
		return bootstrap.DefaultLiveness * 3 / 4
	default:
		return max(l*3/4, least)
	}
}

// begin returns the description of the job for agents.
func (r *Running) begin() (b agent.Begin, err error) {
	b = agent.Begin{
		Silence: 2 * r.silence(), Beat: r.silence() / beats, Program: r.job.Program, Copy: r.job.Copy,
		Bind: r.variable("WEFT_BIND"), Interface: r.variable("WEFT_INTERFACE"),
	}
	if b.Program, err = filepath.Abs(b.Program); err == nil {
		b.Dir, err = os.Getwd()
	}
	if err == nil {
		b.Hash, err = agent.HashFile(b.Program)
	}
	return b, err
}

// variable returns the value of a variable that the job sets in its ranks' environment.
func (r *Running) variable(name string) (value string) {
	for _, e := range r.job.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// assign places the ranks on sites that are ready. Sites that are the same host under several names get the first name,
// so that their ranks share memory.
func (r *Running) assign(local *process.Host, sites []*site) (places []place, err error) {
	names := map[string]string{}
	for _, s := range sites {
		if s.count == 0 {
			continue
		}
		p := place{name: s.name, reply: s.reply}
		if s.here {
			p.host = local
			s.where = sys.Identify()
			s.cores = sys.Cores()
			s.cpus = sys.CPUs()
			if p.env, err = r.bindHere(sites); err != nil {
				return nil, err
			}
		} else {
			p.host = s.remote
			p.env = []string{"WEFT_BIND=" + s.reply.Address}
		}
		p.container = cmp.Or(s.where.Container, s.name)
		if space := s.where.Space; space != "" {
			if names[space] == "" {
				names[space] = s.name
			}
			p.name = names[space]
		}
		p.processors = s.on()
		for range s.count {
			places = append(places, p)
		}
	}
	return places, nil
}

// bindHere returns the environment with the address by which other hosts reach the ranks on this one.
func (r *Running) bindHere(sites []*site) ([]string, error) {
	if r.variable("WEFT_BIND") != "" || os.Getenv("WEFT_BIND") != "" {
		return nil, nil
	}
	for _, s := range sites {
		if s.remote == nil {
			continue
		}
		a, err := agent.Toward(s.reply.Address)
		if err != nil {
			return nil, fmt.Errorf("weft: the address of this host on the way to %s: %w; set WEFT_BIND", s.name, err)
		}
		return []string{"WEFT_BIND=" + a}, nil
	}
	return nil, nil // all ranks are here
}
