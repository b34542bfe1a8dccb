package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"weft/failure"
)

// Version is the version of the protocol between the ranks and the rank that serves them. It changes whenever an old
// and a new program could misunderstand each other.
const Version = 1

// A Member is what a rank sends about itself when it joins a job that another launcher started.
type Member struct {
	Version    int
	Rank, Size int
	Label      string // its launcher's name of the job; "" if there is none
	Host       string // see Job.Host
	Machine    string // ranks with equal Machine share processors
	Address    string // its own address on the connection to the rank that serves; "" for that rank itself
}

// A Gathering serves a job that another launcher started, in the process of rank 0. It waits until all ranks have
// joined, and is their Server from then on.
type Gathering struct {
	jobs   []Job // by rank, what is sent to each: complete when begun is closed
	label  string
	notice func(string)
	stop   chan struct{} // closed with the gathering

	mu      sync.Mutex
	members []*member
	address string        // an address by which another host has reached this process
	begun   chan struct{} // closed when all ranks have joined
	server  *Server       // set when all ranks have joined
	ended   int           // number of ranks that have left or died since
	over    chan struct{} // closed when all ranks have left or died
	closed  bool
}

// A member is a rank that has joined.
type member struct {
	Member
	r *served
}

// NewGathering begins to wait for the ranks of a job. The job need not have an ID, a secret or the places of the ranks:
// NewGathering chooses or learns them. Until all ranks have joined, it calls notice with the ranks that are missing
// after ten seconds, and again whenever they have changed.
func NewGathering(job Job, label string, notice func(string)) *Gathering {
	g := &Gathering{
		jobs: make([]Job, job.Size), members: make([]*member, job.Size), label: label, notice: notice,
		begun: make(chan struct{}), over: make(chan struct{}), stop: make(chan struct{}),
	}
	for i := range g.jobs {
		g.jobs[i] = job
		g.jobs[i].Rank = i
	}
	go g.nag()
	return g
}

// Over returns a channel that is closed when all ranks have left the job, or died.
func (g *Gathering) Over() <-chan struct{} { return g.over }

// Server returns the server of the job, or nil before all ranks have joined.
func (g *Gathering) Server() *Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.server
}

// Close ends the gathering, and the connections of all ranks that have joined.
func (g *Gathering) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	close(g.stop)
	for _, m := range g.members {
		if m != nil {
			m.r.c.Close()
		}
	}
}

// A Visitor is the connection of a rank that has proved that it belongs to the job.
type Visitor struct {
	Conn io.ReadWriteCloser
	At   string // the address of this process that it has connected to; "" for the rank that serves

	served *served
	said   Member
}

// Hear reads the rank's join message. It blocks until the message has come.
func (v *Visitor) Hear() error {
	v.served = newServed(v.Conn)
	l, err := v.served.c.read()
	if err != nil {
		return err
	}
	if l.Op != "join" || l.Join == nil {
		return fmt.Errorf("%w: %q before it had joined", ErrProtocol, l.Op)
	}
	v.said = *l.Join
	return nil
}

// Serve serves a visitor after Hear, until its connection ends. It owns the connection.
func (g *Gathering) Serve(v *Visitor) error {
	m := &member{v.said, v.served}
	if err := g.enter(m, v.At); err != nil {
		refusal := line{Op: "refused", Value: err.Error()}
		if errors.Is(err, errOtherJob) {
			refusal.Key = otherJob
		}
		m.r.send(refusal)
		m.r.c.Close()
		return err
	}
	ready := make(chan struct{})
	gone := make(chan error, 1)
	go func() {
		_, err := m.r.c.in.Peek(1) // a rank sends nothing between its join and the job
		gone <- err
		close(ready)
	}()
	select {
	case <-g.begun:
	case err := <-gone:
		if g.leave(m) {
			m.r.c.Close()
			return cmp.Or(err, ErrProtocol)
		}
	}
	err := g.server.serve(m.Rank, m.r, ready)
	if err != nil {
		g.notice(err.Error())
	}
	g.end(m)
	return err
}

// enter adds a rank to the job, or returns why the rank does not belong to it.
func (g *Gathering) enter(m *member, at string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case m.Version != Version:
		return fmt.Errorf("it speaks version %d of the bootstrap, and this rank %d: are the programs the same?", Version,
			m.Version)
	case m.Label != g.label:
		return fmt.Errorf("%w: it is of the job %q, and this rank of %q", errOtherJob, g.label, m.Label)
	case m.Size != len(g.members):
		return fmt.Errorf("it was told that the job has %d ranks, and this rank was told %d", len(g.members), m.Size)
	case m.Rank < 0 || m.Rank >= m.Size:
		return fmt.Errorf("rank %d: a job of %d has 0 to %d", m.Rank, m.Size, m.Size-1)
	case g.closed:
		return errors.New("the job has ended")
	case g.members[m.Rank] != nil && g.server == nil:
		return fmt.Errorf("rank %d has joined already, from host %s: was a rank given twice?", m.Rank, g.members[m.Rank].Host)
	case g.members[m.Rank] != nil:
		return fmt.Errorf("rank %d of this job has joined once already: a rank that is started again needs a new job", m.Rank)
	}
	g.members[m.Rank] = m
	if at != "" && !isLoopback(at) {
		g.address = at
	}
	for _, other := range g.members {
		if other == nil {
			return nil
		}
	}
	g.begin()
	return nil
}

// begin completes the job's description for every rank, and lets the ranks go on. The caller holds the lock.
func (g *Gathering) begin() {
	id := NewID()
	secret := NewSecret()
	hosts := map[string]int{}
	machines := map[string]int{}
	for _, m := range g.members {
		hosts[m.Host]++
		machines[m.Machine]++
	}
	for i, m := range g.members {
		j := &g.jobs[i]
		j.ID = id
		j.Secret = secret
		j.Host = m.Host
		j.Local = hosts[m.Host]
		j.Crowd = machines[m.Machine]
		if len(hosts) > 1 {
			j.Bind = m.Address
			if m.Address == "" || isLoopback(m.Address) { // on the host of the rank that serves
				j.Bind = g.address
			}
		}
	}
	g.server = NewServer(g.jobs)
	g.server.tells = len(g.jobs) <= mostTold
	close(g.begun)
}

// mostTold is the size of the largest job in which every put is told to all ranks.
const mostTold = 256

func isLoopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

// leave takes a rank whose connection has ended out of a job that has not begun. It reports false if the job has begun.
func (g *Gathering) leave(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server != nil {
		return false
	}
	g.members[m.Rank] = nil
	return true
}

// end tells all ranks that the connection of a rank has ended.
func (g *Gathering) end(m *member) {
	g.server.mu.Lock()
	cause := m.r.failed.Why
	if cause == "" && m.r.leaves {
		cause = ErrExited.Error()
	}
	g.server.mu.Unlock()
	if cause == "" {
		cause = "its connection to rank 0, which serves the job, has ended before it left the job"
	}
	g.server.Down(m.Rank, cause)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended++; g.ended == len(g.members) {
		close(g.over)
	}
}

// Missing returns the ranks that have not joined.
func (g *Gathering) Missing() (ranks []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, m := range g.members {
		if m == nil {
			ranks = append(ranks, i)
		}
	}
	return ranks
}

// nag tells the user and the ranks that have joined, every ten seconds, which ranks are missing.
func (g *Gathering) nag() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	before := ""
	for {
		select {
		case <-g.begun:
			return
		case <-g.stop:
			return
		case <-tick.C:
		}
		missing := g.Missing()
		if text := failure.Ranks(missing); text != before && len(missing) > 0 {
			before = text
			g.notice(fmt.Sprintf("waiting for %s of %d to join", text, len(g.jobs)))
		}
		g.mu.Lock()
		members := append([]*member(nil), g.members...)
		begun := g.server != nil
		g.mu.Unlock()
		for _, m := range members {
			if m != nil && !begun {
				m.r.send(line{Op: "missing", Told: missing})
			}
		}
	}
}

// errOtherJob: the store serves another job with the same secret.
var errOtherJob = errors.New("it serves another job")

// otherJob is the key of a refusal with errOtherJob.
const otherJob = "job"

// Enter joins the job that the Gathering of rank 0 serves at the other end of c, and returns when all ranks have
// joined. It owns c. If ctx ends first, it returns ctx's error in a MissingError.
func Enter(ctx context.Context, c io.ReadWriteCloser, m Member) (*Launched, error) {
	m.Version = Version
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	s := newLaunched(newConn(c), 0)
	missing, err := s.enter(m)
	if err == nil {
		go s.listen()
		return s, nil
	}
	c.Close()
	if cause := ctx.Err(); cause != nil {
		return nil, &failure.MissingError{What: "join the job", Ranks: missing, Cause: cause}
	}
	return nil, err
}

// enter sends this rank's join message, and waits for the job.
func (s *Launched) enter(m Member) (missing []int, err error) {
	if err := s.c.write(line{Op: "join", Join: &m}); err != nil {
		return nil, err
	}
	for {
		l, err := s.c.read()
		if err != nil {
			return missing, err
		}
		switch l.Op {
		case "missing":
			missing = l.Told
		case "refused":
			return nil, &failure.JoinRefusedError{Why: l.Value, OtherJob: l.Key == otherJob}
		default:
			if s.job, err = l.job(); err == nil && (s.job.Rank != m.Rank || s.job.Size != m.Size) {
				err = fmt.Errorf("%w: rank %d of %d was told that it is rank %d of %d", ErrProtocol, m.Rank, m.Size, s.job.Rank,
					s.job.Size)
			}
			return nil, err
		}
	}
}
