package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/join"
	"weft/internal/sim"
	"weft/internal/timeline"
)

// add starts a rank.
func (r *run) add(rank int, program func(m *join.Member) join.Program) error {
	host, mates := r.job.Host(rank)
	src := &source{run: r, identity: bootstrap.Job{
		Rank: rank, Size: r.cluster.Ranks, ID: 1, Secret: []byte("simulated"), Host: hostName(host), Local: mates,
		Crowd: max(r.cluster.PerHost, 1), Liveness: bootstrap.DefaultLiveness, // whatever machine simulates it
	}}
	m, err := join.New(join.Settings{GoBackN: r.cluster.GoBackN, Liveness: r.cluster.Liveness}, src)
	if err != nil {
		return err
	}
	if r.cluster.Trace != nil {
		m.TraceInto(r.cluster.Trace)
	}
	if r.cluster.Timeline != nil {
		m.Timeline = timeline.New(timeline.Capacity(r.cluster.Ranks), func() int64 { return int64(r.job.World.Now()) })
	}
	m.AMT = r.cluster.AMT.Share(rank)
	p := r.job.Add()
	src.rank = p
	if r.cluster.Drift > 0 {
		r.setClock(rank, rank-rank%max(r.cluster.PerHost, 1))
	}
	find := func(to int) (driver.Route, error) {
		host, _ := r.job.Host(to)
		m.Note(to, join.Route{Host: hostName(host), Why: "it is simulated"})
		return driver.Route{Transport: p, Incarnation: r.members[to].Life}, nil
	}
	m.NewNode(r.job.World.Rand.Uint64, driver.Config{Route: find, Host: p})
	m.Run(nil, p, p.Memory())
	r.members = append(r.members, m)
	does := program(m)
	ctx, cancel := context.WithCancel(r.ctx)
	p.Run(m.Node.Tick, func() { r.execute(ctx, m, p, does) }, cancel)
	return nil
}

// setClock draws how wrong the clock of a rank is. Ranks of one host have the clock of the first of them.
func (r *run) setClock(rank, first int) {
	m := r.job.Net.Machine(rank)
	if rank != first {
		m.Offset = r.job.Net.Machine(first).Offset
		m.Drift = r.job.Net.Machine(first).Drift
		return
	}
	m.Offset = sim.Time(r.job.World.Rand.Int64N(int64(time.Second)))
	m.Drift = r.job.World.Rand.Int64N(int64(2*r.cluster.Drift+1)) - int64(r.cluster.Drift)
}

func hostName(host int) string { return fmt.Sprintf("machine%d", host) }

// execute executes the program of a rank.
func (r *run) execute(ctx context.Context, m *join.Member, p *Rank, does join.Program) {
	err := does.Run(ctx)
	p.Enter() // the program may have waited for its goroutines without the simulator's knowledge
	if p.Crashed() {
		return
	}
	if r.end = max(r.end, r.job.World.Now()); err == nil {
		does.Returned()
		m.Node.Drain(ctx, join.ClosePatience) // messages on their way arrive before their receivers leave
		_ = m.Source.Fence(ctx)               // a context that has ended is no failure of a rank that has returned
	}
	if p.Crashed() {
		return
	}
	if err != nil {
		r.fail(fmt.Errorf("rank %d: %w", m.Job.Rank, err))
		does.Failed(ctx, err)
	}
	m.Node.Engine(func(e *engine.Engine) {
		s := e.Stats()
		r.result.Messages += s.Msg.Received + s.RMA.Mail
		r.result.Resent += s.Sent.Resent
	})
	var lost *failure.UndeliveredError
	if err := does.Close(); errors.As(err, &lost) {
		for _, u := range lost.Messages {
			r.result.Undelivered += u.Messages
		}
	} else if err != nil {
		r.fail(fmt.Errorf("rank %d: %w", m.Job.Rank, err))
	}
	p.HasEnded()
}

// A source is the launcher of a simulated rank.
type source struct {
	*run
	identity bootstrap.Job
	rank     *Rank
	failed   error // why its program has failed, or nil
}

// Of returns the job of a simulated rank.
func Of(m *join.Member) *Job { return m.Source.(*source).job }

func (s *source) Job() bootstrap.Job { return s.identity }

func (s *source) Put(ctx context.Context, key, value string) error { return nil }

// Get returns the card of a rank; ranks ask for nothing else.
func (s *source) Get(ctx context.Context, rank int, key string) (string, error) {
	host, mates := s.job.Host(rank)
	c := join.Card{Host: hostName(host), Life: s.members[rank].Life}
	if mates > 1 {
		c.Shm = "memory"
	}
	return c.String(), nil
}

// Fence waits for all ranks. It takes no packets and no time.
func (s *source) Fence(ctx context.Context) error { return s.rank.Fence(ctx) }

// Return takes no packets and no time.
func (s *source) Return(told []int) error {
	s.tell(s.departures.Returned(s.identity.Rank, told))
	return nil
}

// Await takes no packets and no time.
func (s *source) Await(rank int) { s.tell(s.departures.Await(s.identity.Rank, rank)) }

// tell tells ranks which programs have returned.
func (r *run) tell(news []bootstrap.Notice) {
	for _, n := range news {
		to := r.job.Ranks[n.To]
		if to.Ended() || to.Crashed() {
			continue
		}
		node := r.members[n.To].Node
		to.Later(func() {
			for _, rank := range n.Of {
				node.Returned(rank)
			}
		})
	}
}

func (s *source) Answer(state func() string) {}

// Fail tells the other ranks of it when this one has left, as a launcher does.
func (s *source) Fail(cause string, because int) { s.failed = errors.New(cause) }

func (s *source) Watch(down func(rank int, cause error)) {}

func (s *source) Close() error {
	if s.failed == nil {
		return nil
	}
	for rank, to := range s.job.Ranks {
		if rank != s.identity.Rank && !to.Ended() && !to.Crashed() {
			to.Later(func() { s.members[rank].Ended(s.identity.Rank, s.failed) })
		}
	}
	s.tell(s.departures.Ended(s.identity.Rank))
	return nil
}
