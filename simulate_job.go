package weft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/wire"
	"weft/internal/sim"
	"weft/internal/sim/job"
	"weft/internal/timeline"
	"weft/internal/timeline/traceevent"
)

// writeTimeline writes the timelines of the ranks.
func (j *simJob) writeTimeline() error {
	if j.Timeline == nil {
		return nil
	}
	parts := make([]*timeline.Part, j.Ranks)
	for rank, p := range j.procs {
		parts[rank] = p.part()
	}
	_, err := traceevent.Write(j.Timeline, parts)
	return err
}

// A simJob is a job in the simulator.
type simJob struct {
	Cluster
	ctx     context.Context
	cancel  context.CancelCauseFunc
	err     error // of the rank that failed first, or of the whole job
	job     *job.Job
	procs   []*Proc
	unheard int // messages that were not accepted
	end     sim.Time

	received, resent uint64 // messages, and packets
}

func newSimJob(ctx context.Context, c Cluster) (*simJob, error) {
	if c.Topology == "" {
		c.Topology = "crossbar"
	}
	if c.Link == "" {
		c.Link = "10Gbps,1us"
	}
	if c.MTU == 0 {
		c.MTU = 1500
	}
	switch {
	case c.Ranks < 1 || c.Ranks > 1<<20:
		return nil, &ConfigError{Field: "Cluster.Ranks", Value: c.Ranks, Min: 1, Max: 1 << 20}
	case c.PerHost < 0 || c.PerHost > c.Ranks:
		return nil, &ConfigError{Field: "Cluster.PerHost", Value: c.PerHost, Min: 0, Max: c.Ranks}
	case c.MTU < minSimMTU || c.MTU > 1<<16:
		return nil, &ConfigError{Field: "Cluster.MTU", Value: c.MTU, Min: minSimMTU, Max: 1 << 16}
	case !(c.Loss >= 0 && c.Loss < 1):
		return nil, &OptionError{Option: "Cluster.Loss", Value: fmt.Sprint(c.Loss),
			Takes: "the share of packets to lose, from 0 to less than 1"}
	}
	w, err := sim.ParseWire(c.Link)
	if err != nil {
		return nil, ofField("Cluster.Link", err)
	}
	top, err := sim.ParseTopology(c.Topology, c.Ranks, w)
	if err != nil {
		return nil, ofField("Cluster.Topology", err)
	}
	if err := checkFaults(c.Faults, c.Ranks); err != nil {
		return nil, err
	}
	j := &simJob{Cluster: c, job: job.New(job.Config{
		Ranks: c.Ranks, PerHost: c.PerHost, MTU: c.MTU, Topology: top, Loss: c.Loss, Seed: c.Seed, Log: c.Log,
		Describe: wire.DescribePacket,
	})}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	return j, nil
}

// ofField names the field of Cluster in an error of the simulator's parsers, which name the option of a command.
func ofField(field string, err error) error {
	if e, ok := err.(*OptionError); ok {
		e.Option = field
	}
	return err
}

// minSimMTU is the least MTU, in bytes: it leaves room for some payload in a packet.
const minSimMTU = 256

// add starts a rank.
func (j *simJob) add(rank int, run func(ctx context.Context, p *Proc) error) error {
	host, mates := j.job.Host(rank)
	src := &simSource{j: j, job: bootstrap.Job{
		Rank: rank, Size: j.Ranks, ID: 1, Secret: []byte("simulated"), Host: fmt.Sprintf("machine%d", host), Local: mates,
		Crowd: max(j.PerHost, 1), Liveness: bootstrap.DefaultLiveness, // whatever machine simulates it
	}}
	p, err := newProc(&Config{GoBackN: j.GoBackN, Liveness: j.Liveness}, src)
	if err != nil {
		return err
	}
	if j.Trace != nil {
		p.traceInto(j.Trace)
	}
	if j.Timeline != nil {
		p.timeline = timeline.New(timeline.Capacity(j.Ranks), func() int64 { return int64(j.job.World.Now()) })
	}
	p.amt = j.amt.Of(rank)
	r := j.job.Add()
	src.rank = r
	find := func(to int) (driver.Route, error) {
		host, _ := j.job.Host(to)
		p.routes[to] = route{host: fmt.Sprintf("machine%d", host), why: "it is simulated"}
		return driver.Route{Transport: r, Incarnation: j.procs[to].life}, nil
	}
	p.newNode(j.job.World.Rand.Uint64, driver.Config{Route: find, Host: r})
	p.memory.Memory = r.Memory()
	p.trs = append(p.trs, r)
	p.flights = j.flights
	p.node.Start(nil, r)
	j.procs = append(j.procs, p)
	ctx, cancel := context.WithCancel(j.ctx)
	r.Run(p.node.Tick, func() { j.rank(ctx, p, r, run) }, cancel)
	return nil
}

// flights returns how long events from one rank to others are on their way if they are sent at
// the same time in this order. BarrierAligned computes the common instant of the release from
// these times.
func (j *simJob) flights(from int, to []int) []time.Duration {
	return j.job.Flights(from, to, wire.LinkSize+wire.EventSize)
}

// rank runs a rank.
func (j *simJob) rank(ctx context.Context, p *Proc, r *job.Rank, run func(ctx context.Context, p *Proc) error) {
	err := run(ctx, p)
	r.Enter() // the function may have waited for its goroutines without the simulator's knowledge
	if r.Crashed() {
		return
	}
	if j.end = max(j.end, j.job.World.Now()); err == nil {
		p.hasReturned()
		p.node.Drain(closePatience) // messages on their way arrive before their receivers leave
		_ = p.src.Fence(ctx)        // a context that has ended is no failure of a rank that has returned
	}
	if r.Crashed() {
		return
	}
	if err != nil {
		j.fail(fmt.Errorf("rank %d: %w", p.Rank(), err))
	}
	p.node.Engine(func(e *engine.Engine) { j.count(e.Stats()) })
	var lost *UndeliveredError
	if err := p.Close(); errors.As(err, &lost) {
		for _, u := range lost.Messages {
			j.unheard += u.Messages
		}
	} else if err != nil {
		j.fail(fmt.Errorf("rank %d: %w", p.Rank(), err))
	}
	r.HasEnded()
}

func (j *simJob) count(s engine.Stats) {
	j.received += s.Msg.Received
	j.resent += s.Sent.Resent
}

// fail ends the job with an error; the first error is kept.
func (j *simJob) fail(err error) {
	if j.err == nil {
		j.err = err
	}
	j.stop(err)
}

// stop ends the ranks' contexts.
func (j *simJob) stop(err error) {
	j.cancel(err)
	j.job.WakeAll()
}

// play runs the simulation until all ranks have ended, or cannot end.
func (j *simJob) play() {
	j.job.Play(func() {
		if j.ctx.Err() != nil {
			j.stop(context.Cause(j.ctx)) // from outside; what the ranks make of it counts
		}
	}, func() bool {
		if j.ctx.Err() != nil {
			j.fail(context.Cause(j.ctx))
			return false
		}
		j.fail(j.whatFor())
		return true
	})
}

// whatFor returns an error that says what every rank waits for.
func (j *simJob) whatFor() error {
	const most = 16
	text := ""
	for rank, r := range j.job.Ranks {
		if r.Ended() || r.Crashed() {
			continue
		}
		if rank == most {
			text += "\n  …"
			break
		}
		var lines []string
		j.procs[rank].node.Engine(func(e *engine.Engine) { lines = append(e.Unfinished(), e.Msg.Waiting()...) })
		lines = append(lines, r.Blocked()...)
		if len(lines) == 0 {
			lines = []string{"has returned, or waits for its own memory to change"}
		}
		for _, l := range lines {
			text += fmt.Sprintf("\n  rank %d: %s", rank, l)
		}
	}
	return fmt.Errorf("%w, at %v of virtual time:%s", ErrStuck, time.Duration(j.job.World.Now()), text)
}

func (j *simJob) result() *Simulation {
	s := j.job.Net.Stats
	return &Simulation{
		Ranks: j.Ranks, Topology: j.job.Net.Topology().Name(), Time: time.Duration(j.end), Messages: j.received,
		Packets: s.Delivered, Bytes: s.Bytes, Lost: s.Lost + s.Overflows, Resent: j.resent, Undelivered: j.unheard,
		Events: j.job.World.Events(), Hash: j.job.World.Hash(), net: j.job.Net, end: max(j.end, 1),
	}
}
