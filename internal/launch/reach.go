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

// A Way leads to other hosts.
type Way struct {
	Command []string // such as ssh with options: the host and a command for it follow
	Shell   bool     // the command for the host is read by a shell there
}

// Bounds of the tree of agents.
const (
	defaultFanout = 16               // agents that one host starts
	startTime     = 30 * time.Second // that an agent may take to say hello
	branchTime    = 10 * time.Second // the same if another way is left
)

// A site is one host of the list on the way to its ranks.
type site struct {
	name   string
	count  int  // ranks
	here   bool // it is this host
	remote *agent.Remote
	reply  agent.Reply
	where  sys.Identity
	cores  [][]int
	err    error
	ready  chan struct{} // closed when the agent has been told of the job, or err is set
}

// An InterruptedError reports that a signal came before the ranks had been started.
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

// interruptible returns a context that ends when a signal asks us to end.
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

// reach makes all sites ready: an agent on each that has ranks and is not here. More
// than the fan-out are started by agents that are there already, as a tree.
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
	for i := range far { // parents come before the agents that they have started
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

// failures joins what is wrong with sites, each thing in a line.
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

// connect starts the agent of a site, by way of the agent of another one if there is
// one and it can.
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
			s.remote, _ = r.hello(ctx, branchTime, s.name, parent.remote, order) // else we do it
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
	if silence := r.silence(); silence > 0 {
		s.remote.Watch(2*silence/beats, silence)
	}
	defer context.AfterFunc(ctx, func() { _ = s.remote.Close() })()
	begin.Name = s.name
	s.reply, err = s.remote.Begin(begin)
	return err
}

// starter is what an agent can be started on: this host or a Remote.
type starter interface {
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)
	Signal(id int, s syscall.Signal) bool
}

// hello starts an agent and waits until it has said hello.
func (r *Running) hello(ctx context.Context, most time.Duration, name string, via starter,
	o process.Order) (*agent.Remote, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no word of an agent in %v", most))
	defer cancel()
	return agent.Connect(ctx, name, via, o)
}

// agentOrder says how the agent of a host is started.
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

// fits says what keeps an agent from being of use.
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

// beats is how many times one side hears the other in the time of silence.
const beats = 8

// silence is the time after which a host that has not been heard counts as gone:
// shorter than the ranks' own, so that the host is named and not a rank that missed it.
// It is negative if none counts as gone.
func (r *Running) silence() time.Duration {
	const least = time.Second // agents wait for processors, too
	switch l := r.job.Liveness; {
	case l < 0:
		return -1
	case l == 0:
		return bootstrap.DefaultLiveness * 3 / 4
	default:
		return max(l*3/4, least)
	}
}

// begin is what all agents are told.
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

// variable returns the value that the ranks will find in a variable of their
// environment.
func (r *Running) variable(name string) (value string) {
	for _, e := range r.job.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// assign places the ranks on sites that are ready. Sites that are the same space on the
// same machine have one name, the first, for the ranks there may share memory.
func (r *Running) assign(local *process.Host, sites []*site) (places []place, err error) {
	names := map[string]string{}
	taken := map[string]bool{}
	for _, s := range sites {
		if s.count == 0 {
			continue
		}
		p := place{name: s.name, reply: s.reply}
		if s.here {
			p.host = local
			s.where = sys.Identify()
			s.cores = sys.Cores()
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
		for range s.count {
			q := p
			if r.job.BindToCore {
				if q.cpus = s.freeCore(taken); q.cpus == nil {
					return nil, fmt.Errorf("weft: host %s: -bind-to core: more ranks than its %d cores", s.name, len(s.cores))
				}
			}
			places = append(places, q)
		}
	}
	return places, nil
}

// freeCore returns a core of the site's machine that no rank has, and takes it: the machine may
// have several names, and several sites that have its cores in common. It returns nil if there is none.
func (s *site) freeCore(taken map[string]bool) []int {
	for _, core := range s.cores {
		name := fmt.Sprint(cmp.Or(s.where.Machine, s.name), core)
		if !taken[name] {
			taken[name] = true
			return core
		}
	}
	return nil
}

// bindHere returns the environment that tells ranks here of the address by which others
// reach them.
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
