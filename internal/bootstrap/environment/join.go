package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/bootstrap/pmi"
	"weft/internal/bootstrap/rendezvous"
	"weft/internal/sys"
)

// A joining is a process on its way into its job.
type joining struct {
	env    Environment
	plan   Plan
	host   Host
	bind   string // the address of this process, if it was told one
	notice func(string)
	parent *sys.Ancestor // the launcher's process on this host, if that is to be watched, or nil
}

// Join makes this process a rank of the job of which it was started, and returns when all ranks
// have joined. Without a launcher it is a job of one. The notice is told what the user should
// know while this takes long. A process joins once.
func Join(ctx context.Context, notice func(string)) (bootstrap.Source, error) {
	if os.Getenv(bootstrap.Env) != "" {
		return bootstrap.FromEnv()
	}
	e := ThisProcess()
	plan, err := Recognize(e)
	if err != nil {
		return nil, err
	}
	defer forget()
	if plan.Size == 1 {
		return bootstrap.NewLocal(1)[0], nil
	}
	j := &joining{
		env: e, plan: plan, host: thisHost(cmp.Or(plan.Host, e.Name)), bind: bindHost(e.Get("WEFT_BIND")), notice: notice,
	}
	if plan.Way.Parent != "" {
		j.parent, _ = sys.FindAncestor(plan.Way.Parent) // from within a container it cannot be seen
	}
	s, err := j.join(ctx)
	if err != nil && j.parent != nil {
		j.parent.Close()
	}
	return s, err
}

// forget takes out of the environment what is this process's alone: its children are no ranks, and
// need no secret.
func forget() {
	for _, name := range []string{EnvSecret, "PMI_FD", "PMI_PORT", "PMI_ID"} {
		os.Unsetenv(name)
	}
	os.Setenv(EnvLauncher, None)
}

// bindHost returns the host of an address with or without a port.
func bindHost(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return text
}

// join finds the other ranks in the way that the plan names. Rank 0 opens its store before it looks for anything,
// so that the others find it.
func (j *joining) join(ctx context.Context) (bootstrap.Source, error) {
	switch {
	case j.plan.Way.Name == "pmi":
		return j.source(j.joinPMI(ctx))
	case j.plan.Etcd != "":
		return j.source(j.joinEtcd(ctx))
	}
	var store *rendezvous.Store
	if j.plan.Rank == 0 {
		var err error
		if store, err = j.serve(ctx); err != nil {
			return nil, err
		}
	}
	return j.source(j.meet(ctx, store, func(context.Context) ([]string, error) { return j.plan.addresses(), nil }))
}

// source keeps a nil pointer from becoming a Source.
func (j *joining) source(s *Source, err error) (bootstrap.Source, error) {
	if err != nil {
		return nil, err
	}
	s.by = j.plan.Way.Title
	s.parent = j.parent
	s.name = j.plan.Way.Parent
	return s, nil
}

// ownDescriptors are those that a process needs besides its connections to other ranks.
const ownDescriptors = 20

// serve starts the store of the job in this process, which is rank 0.
func (j *joining) serve(ctx context.Context) (*rendezvous.Store, error) {
	liveness, err := j.liveness()
	if err != nil {
		return nil, err
	}
	need := j.plan.Size + ownDescriptors
	if most := sys.MaxFDs(); most > 0 && most < need {
		return nil, fmt.Errorf("weft: rank 0 has a connection to each of the %d ranks and needs about %d descriptors: "+
			"it may have %d (ulimit -n)", j.plan.Size, need, most)
	}
	l, err := j.listen(ctx)
	if err != nil {
		return nil, err
	}
	if j.plan.Trusted {
		j.notice(fmt.Sprintf("rank 0 lets every process in that reaches %v: %s=1", l.Addr(), EnvTrust))
	}
	return rendezvous.Serve(l, rendezvous.Config{
		Job:    bootstrap.Job{Size: j.plan.Size, Transport: j.env.Get(EnvTransport), Liveness: liveness},
		Member: j.member(), Secret: j.plan.key(), Notice: j.notice,
	}), nil
}

// liveness returns the silence after which a peer counts as dead, if the user says one.
func (j *joining) liveness() (time.Duration, error) {
	text := j.env.Get(EnvLiveness)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("weft: %s=%q: must be a time such as 3s: %w", EnvLiveness, text, err)
	}
	return d, nil
}

// portPatience is how long rank 0 waits for a port that another process has: an earlier job may
// be about to end.
const portPatience = 10 * time.Second

// listen listens on the first of the ports that is free; on any without one.
func (j *joining) listen(ctx context.Context) (net.Listener, error) {
	ports := j.plan.Ports
	if len(ports) == 0 {
		ports = []int{0}
	}
	for end := time.Now().Add(portPatience); ; {
		var err error
		for _, port := range ports {
			var l net.Listener
			l, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(j.bind, strconv.Itoa(port)))
			if err == nil {
				return l, nil
			}
			if !errors.Is(err, syscall.EADDRINUSE) {
				break
			}
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return nil, fmt.Errorf("weft: rank 0 must serve the others (ports %v): %w; %s=HOST:PORT names another place", ports,
				err, EnvRendezvous)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// member returns what this rank says of itself.
func (j *joining) member() bootstrap.Member {
	return bootstrap.Member{
		Version: bootstrap.Version, Rank: j.plan.Rank, Size: j.plan.Size, Label: j.plan.Label,
		Host: j.host.ID, Machine: j.host.Machine,
	}
}

// beacon returns how a store is found, which this process serves.
func (j *joining) beacon(s *rendezvous.Store) beacon {
	b := beacon{host: j.host.ID, addresses: ownAddresses()}
	if j.bind != "" {
		b.addresses = []string{j.bind}
	}
	if a, ok := s.Address().(*net.TCPAddr); ok {
		b.port = a.Port
	}
	return b
}

// meet joins the job at the store of this process, or at that of rank 0, which is at one of the
// addresses that where returns.
func (j *joining) meet(ctx context.Context, store *rendezvous.Store,
	where func(context.Context) ([]string, error)) (*Source, error) {
	if store == nil {
		found, err := rendezvous.Dial(ctx, rendezvous.Dialling{
			Addresses: where, Member: j.member(), Secret: j.plan.key(), Notice: j.notice,
		})
		if errors.Is(err, failure.ErrSecret) {
			err = fmt.Errorf("weft: rank %d on %s: %w", j.plan.Rank, HostName(j.host.ID), err)
		}
		if err != nil {
			return nil, err
		}
		return &Source{Source: found}, nil
	}
	found, err := store.Join(ctx)
	if err != nil {
		store.Close()
		return nil, err
	}
	return &Source{Source: found, store: store}, nil
}

// A Source is the job as a process sees it that others have started.
type Source struct {
	bootstrap.Source
	store  *rendezvous.Store // of rank 0
	pmi    *pmi.Client       // or nil
	by     string
	failed bool

	meeting Meeting       // or nil
	parent  *sys.Ancestor // the launcher's process on this host, or nil
	name    string        // of parent
}

// Server returns what serves the job if this rank does, and a channel that is closed when all
// ranks have left; nil in all others.
func (s *Source) Server() (server *bootstrap.Server, over <-chan struct{}) {
	if s.store == nil {
		return nil, nil
	}
	return s.store.Server(), s.store.Over()
}

// By returns in words what has started the job.
func (s *Source) By() string { return s.by }

// Watch reports ranks that have ended. When the process manager's side of PMI is gone, or the launcher's process that
// has started this rank, Watch reports the launcher: it would have ended the others.
func (s *Source) Watch(down func(rank int, cause error)) {
	s.Source.Watch(down)
	if s.pmi != nil {
		s.pmi.Watch(func(cause error) { down(-1, fmt.Errorf("%w (%w)", failure.ErrLauncher, cause)) })
	}
	if s.parent != nil {
		go func() {
			if s.parent.AwaitEnd() == nil {
				down(-1, fmt.Errorf("%w (%s, which has started this rank, has ended)", failure.ErrLauncher, s.name))
			}
		}()
	}
}

// Fail says that this rank's program has failed. PMI is not told that it has ended well then, so
// that process managers that care end the job.
func (s *Source) Fail(cause string, because int) {
	s.failed = true
	s.Source.Fail(cause, because)
}

// farewell is how long a rank that leaves waits for others.
const farewell = time.Second

// Close leaves the job. Rank 0 waits a second for the others to leave, and serves the ranks that
// have not left for as long as its process lives.
func (s *Source) Close() error {
	err := s.Source.Close()
	if s.parent != nil {
		s.parent.Close()
	}
	if s.store != nil {
		select {
		case <-s.store.Over():
			s.store.Close()
		case <-time.After(farewell):
			go func() {
				<-s.store.Over()
				s.store.Close()
			}()
		}
	}
	if s.meeting != nil {
		s.meeting.Leave()
	}
	if s.pmi != nil && !s.failed {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = s.pmi.Finalize(ctx) // a process manager that is gone needs no goodbye
	}
	return err
}
