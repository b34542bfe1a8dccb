package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Version is that of what ranks and the rank that serves them say to each other. It changes
// whenever one could misunderstand the other.
const Version = 1

// A Member is what a rank that others have started says of itself when it joins.
type Member struct {
	Version    int
	Rank, Size int
	Label      string // what its launcher calls the job; "" if it does not
	Host       string // see Job.Host
	Machine    string // ranks with equal Machine share processors
	Address    string // by which it has reached the rank that serves, "" for that rank itself
}

// A Gathering is the side of the rank that serves a job which others have started: it waits
// until all ranks have joined, and is their Server from then on.
type Gathering struct {
	jobs   []Job // as they are told: complete when begun is closed
	label  string
	notice func(string)
	stop   chan struct{} // closed with the gathering

	mu      sync.Mutex
	members []*member
	address string        // by which another host has reached this process
	begun   chan struct{} // closed when all have joined
	server  *Server       // set then
	ended   int           // ranks that have left or died since
	over    chan struct{} // closed when all have
	closed  bool
}

// A member is a rank that has joined.
type member struct {
	Member
	r *served
}

// NewGathering waits for the ranks of a job as job describes it, which lacks an ID, a secret
// and who is where. The notice is called after ten seconds with the ranks that are missing,
// and every time that it changes, until all have joined.
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

// Server returns the server of the job, when all ranks have joined.
func (g *Gathering) Server() *Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.server
}

// Close ends the gathering, also for those that have joined.
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
	At   string // our address, by which it has reached us; "" for the rank that serves

	served *served
	said   Member
}

// Hear reads what a rank says of itself. It blocks until it has.
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

// Serve serves a visitor that has been heard until its connection ends. It owns the
// connection.
func (g *Gathering) Serve(v *Visitor) error {
	m := &member{v.said, v.served}
	if err := g.enter(m, v.At); err != nil {
		refusal := line{Op: "refused", Value: err.Error()}
		if errors.Is(err, ErrOtherJob) {
			refusal.Key = otherJob
		}
		m.r.send(refusal)
		m.r.c.Close()
		return err
	}
	ready := make(chan struct{})
	gone := make(chan error, 1)
	go func() {
		_, err := m.r.c.in.Peek(1) // a rank says nothing before it has been told the job
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

// enter gives a rank its place, or says why it has none.
func (g *Gathering) enter(m *member, at string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case m.Version != Version:
		return fmt.Errorf("it speaks version %d of the bootstrap, and this rank %d: are the programs the same?", Version,
			m.Version)
	case m.Label != g.label:
		return fmt.Errorf("%w: it is of the job %q, and this rank of %q", ErrOtherJob, g.label, m.Label)
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

// begin tells every rank where it is. The lock is held.
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
			if m.Address == "" || isLoopback(m.Address) { // it is on the host of the rank that serves
				j.Bind = g.address
			}
		}
	}
	g.server = NewServer(g.jobs)
	g.server.tells = len(g.jobs) <= mostTold
	close(g.begun)
}

// mostTold is how many ranks a job may have of which each is told what every other puts.
const mostTold = 256

func isLoopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

// leave gives up the place of a rank that is gone before the job has begun. It reports
// false if the job has begun.
func (g *Gathering) leave(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server != nil {
		return false
	}
	g.members[m.Rank] = nil
	return true
}

// end tells all that a rank's connection has ended.
func (g *Gathering) end(m *member) {
	g.server.mu.Lock()
	cause := m.r.failed
	if cause == "" && m.r.leaves {
		cause = ErrExited.Error()
	}
	g.server.mu.Unlock()
	if cause == "" {
		cause = "its connection to rank 0, which serves the job's store, has ended, and it had not left the job"
	}
	g.server.Down(m.Rank, cause)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended++; g.ended == len(g.members) {
		close(g.over)
	}
}

// missing returns the ranks that have not joined.
func (g *Gathering) missing() (ranks []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, m := range g.members {
		if m == nil {
			ranks = append(ranks, i)
		}
	}
	return ranks
}

// nag tells who is missing, this process and those that wait.
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
		missing := g.missing()
		if text := Ranks(missing); text != before && len(missing) > 0 {
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

// ErrOtherJob reports that a store is that of another job of the same secret.
var ErrOtherJob = errors.New("it serves another job")

// otherJob is the key of a refusal for that reason.
const otherJob = "job"

// Enter joins the job that a Gathering on the other end of c serves, and returns when all
// ranks have. It owns c. If ctx ends first the error names the ranks that are missing, if
// they have been told, and is the context's. Rank 0 serves.
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
	switch cause := ctx.Err(); {
	case cause != nil && missing != nil:
		return nil, &MissingError{"join the job", missing, cause}
	case cause != nil:
		return nil, cause
	}
	return nil, err
}

// enter says who this is, and waits until it is told the job.
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
			return nil, &RefusedError{Why: l.Value, OtherJob: l.Key == otherJob}
		default:
			if s.job, err = l.job(); err == nil && (s.job.Rank != m.Rank || s.job.Size != m.Size) {
				err = fmt.Errorf("%w: rank %d of %d was told that it is rank %d of %d", ErrProtocol, m.Rank, m.Size, s.job.Rank,
					s.job.Size)
			}
			return nil, err
		}
	}
}

// A RefusedError is why the rank that serves a job does not let this one in.
type RefusedError struct {
	Why      string
	OtherJob bool // it serves another job of the same secret
}

func (e *RefusedError) Error() string { return "weft: rank 0 does not let this rank in: " + e.Why }

// Is reports whether the target is ErrOtherJob, and that is why.
func (e *RefusedError) Is(target error) bool { return e.OtherJob && target == ErrOtherJob }

// Ranks writes ranks in words: "rank 3", "ranks 1, 4-7".
func Ranks(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, fmt.Sprint(ranks[i]))
		case j == i+1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		}
		i = j + 1
	}
	const most = 20
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and more: %d in all", len(ranks)))
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ", ")
}
