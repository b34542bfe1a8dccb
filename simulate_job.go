package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/wire"
	"weft/internal/sim"
	"weft/internal/sim/proc"
	"weft/internal/timeline"
	"weft/internal/timeline/perfetto"
	"weft/internal/transport/pipe"
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
	_, err := perfetto.Write(j.Timeline, parts)
	return err
}

// A simJob is a job in the simulator.
type simJob struct {
	Cluster
	ctx     context.Context
	cancel  context.CancelCauseFunc
	err     error // of the rank that failed first, or of the whole job
	world   *sim.World
	turns   *proc.Turns
	net     *sim.Network
	guests  []*proc.Process
	procs   []*Proc
	hosts   []*simHost // if ranks share hosts
	cancels []func()   // end the contexts of the ranks
	sources []*simSource
	fenced  int
	left    int // ranks that have not ended
	unheard int // messages that were not accepted
	late    int // events after the last rank had ended
	end     sim.Time
	stats   engine.Stats
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
		return nil, publicStart(err)
	}
	top, err := sim.ParseTopology(c.Topology, c.Ranks, w)
	if err != nil {
		return nil, publicStart(err)
	}
	j := &simJob{Cluster: c, world: sim.NewWorld(c.Seed), left: c.Ranks}
	j.world.Log = c.Log
	j.turns = proc.NewTurns(j.world)
	j.net = sim.NewNetwork(j.world, top)
	j.net.Faults.Loss = c.Loss
	if err := checkFaults(c.Faults, c.Ranks); err != nil {
		return nil, err
	}
	j.net.Describe = wire.DescribePacket
	if c.PerHost > 1 {
		j.net.Near = j.near
	}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	return j, nil
}

// minSimMTU is the least MTU, in bytes: it leaves room for some payload in a packet.
const minSimMTU = 256

// add starts a rank.
func (j *simJob) add(rank int, run func(ctx context.Context, p *Proc) error) error {
	host, mates := j.host(rank)
	src := &simSource{j: j, job: bootstrap.Job{
		Rank: rank, Size: j.Ranks, ID: 1, Secret: []byte("simulated"), Host: fmt.Sprintf("machine%d", host), Local: mates,
		Crowd: max(j.PerHost, 1),
	}}
	p, err := newProc(&Config{GoBackN: j.GoBackN, Liveness: j.Liveness}, src)
	if err != nil {
		return err
	}
	if j.Trace != nil {
		p.traceInto(j.Trace)
	}
	if j.Timeline != nil {
		p.timeline = timeline.New(timeline.Capacity(j.Ranks), func() int64 { return int64(j.world.Now()) })
	}
	p.amt = j.amt.of(rank)
	g := proc.New(j.turns, j.net, rank, j.MTU)
	src.guest = g
	if mates > 1 {
		if host == len(j.hosts) {
			j.hosts = append(j.hosts, &simHost{memory: pipe.NewHost()})
		}
		p.memory = j.hosts[host].memory.Memory(rank)
		g.Share(p.memory, &j.hosts[host].mates)
	}
	j.sources = append(j.sources, src)
	find := func(to int) (driver.Route, error) {
		host, _ := j.host(to)
		p.routes[to] = route{host: fmt.Sprintf("machine%d", host), why: "it is simulated"}
		return driver.Route{Transport: g, Incarnation: j.procs[to].life}, nil
	}
	p.node = driver.New(driver.Config{Engine: p.engine(j.world.Rand.Uint64), Route: find, Timeline: p.timeline, Host: g})
	p.trs = append(p.trs, g)
	p.flights = j.flights
	p.node.Start(nil, g)
	j.guests = append(j.guests, g)
	j.procs = append(j.procs, p)
	ctx, cancel := context.WithCancel(j.ctx)
	j.cancels = append(j.cancels, cancel)
	g.Start(p.node.Tick, func() { j.rank(ctx, p, g, run) })
	return nil
}

// A simHost is a host that several ranks share.
type simHost struct {
	memory *pipe.Host
	mates  []*proc.Process
}

// host returns the host of a rank, and how many ranks it has.
func (j *simJob) host(rank int) (host, mates int) {
	if j.PerHost < 2 {
		return rank, 1
	}
	host = rank / j.PerHost
	return host, min(j.PerHost, j.Ranks-host*j.PerHost)
}

// near reports whether ranks share a host.
func (j *simJob) near(a, b int) bool { return a/j.PerHost == b/j.PerHost }

// flights returns how long events from one rank to others are on their way if the network is idle
// and they are sent at the same time in this order: on common links they wait for each other.
// BarrierAligned computes the common instant of the release from these times.
func (j *simJob) flights(from int, to []int) []time.Duration {
	free := map[int]time.Duration{} // by link
	d := make([]time.Duration, len(to))
	for i, rank := range to {
		if j.PerHost > 1 && j.near(from, rank) && rank != from {
			d[i] = sim.NearDelay
			continue
		}
		for at := from; at != rank; {
			next, id, w := j.net.Topology().Next(from, at, rank)
			free[id] = max(d[i], free[id]) + w.Takes(wire.LinkSize+wire.EventSize)
			d[i] = free[id] + w.Delay
			at = next
		}
	}
	return d
}

// rank runs a rank.
func (j *simJob) rank(ctx context.Context, p *Proc, g *proc.Process, run func(ctx context.Context, p *Proc) error) {
	err := run(ctx, p)
	g.Enter() // the function may have waited for its goroutines without the simulator's knowledge
	if g.Crashed() {
		return
	}
	if j.end = max(j.end, j.world.Now()); err == nil {
		p.hasReturned()
		p.node.Drain(closePatience) // messages on their way arrive before their receivers leave
		_ = p.src.Fence(ctx)        // a context that has ended is no failure of a rank that has returned
	}
	if g.Crashed() {
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
	if !g.Crashed() {
		j.left--
	}
}

func (j *simJob) count(s engine.Stats) {
	j.stats.Msg.Received += s.Msg.Received
	j.stats.Link.Resent += s.Link.Resent
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
	for _, g := range j.guests {
		g.WakeAll()
	}
}

// play runs the simulation until all ranks have ended, or cannot end.
func (j *simJob) play() {
	n := -1
	j.turns.Run(func() bool {
		n++
		if j.left == 0 {
			return j.goroutines() && j.world.Step(sim.Never)
		}
		return j.step(n%4096 == 0)
	})
}

// lateTurns is how many events are simulated for goroutines that outlive their ranks' functions, so
// that they can end: each of their calls returns ErrClosed.
const lateTurns = 100_000

// goroutines reports whether goroutines are left, and lateTurns events have not passed.
func (j *simJob) goroutines() bool {
	j.late++
	return j.late < lateTurns && slices.ContainsFunc(j.guests, func(g *proc.Process) bool { return !g.Ended() })
}

// step simulates one event, and reports whether the simulation goes on. If look is set it also
// checks the context, and whether the ranks are stuck.
func (j *simJob) step(look bool) bool {
	if look && j.ctx.Err() != nil {
		j.stop(context.Cause(j.ctx)) // from outside; what the ranks make of it counts
	}
	// Links that watch their peers always have events. So the ranks are stuck if all of them
	// have waited for longer than any such event takes.
	if look && j.stuck() || !j.world.Step(sim.Never) {
		if j.ctx.Err() != nil {
			j.fail(context.Cause(j.ctx))
			return false
		}
		j.fail(j.whatFor())
	}
	return true
}

// stuckAfter is the virtual time for which all ranks may wait for each other before that counts as
// a deadlock. Peers that are gone have been noticed long before.
const stuckAfter = 60 * time.Second

// stuck reports whether every rank has waited for another for a long time.
func (j *simJob) stuck() bool {
	if j.world.Now() < j.turns.Ran().Add(stuckAfter) {
		return false
	}
	for _, g := range j.guests {
		if !g.Ended() && !g.Waits() {
			return false
		}
	}
	return true
}

// whatFor returns an error that says what every rank waits for.
func (j *simJob) whatFor() error {
	const most = 16
	text := ""
	for rank, g := range j.guests {
		if g.Ended() || g.Crashed() {
			continue
		}
		if rank == most {
			text += "\n  …"
			break
		}
		var lines []string
		j.procs[rank].node.Engine(func(e *engine.Engine) { lines = append(e.Unfinished(), e.Msg.Waiting()...) })
		lines = append(lines, g.Blocked()...)
		if len(lines) == 0 {
			lines = []string{"has returned, or waits for its own memory to change"}
		}
		for _, l := range lines {
			text += fmt.Sprintf("\n  rank %d: %s", rank, l)
		}
	}
	return fmt.Errorf("%w, at %v of virtual time:%s", ErrStuck, time.Duration(j.world.Now()), text)
}

func (j *simJob) result() *Simulation {
	s := j.net.Stats
	return &Simulation{
		Ranks: j.Ranks, Topology: j.net.Topology().Name(), Time: time.Duration(j.end), Messages: j.stats.Msg.Received,
		Packets: s.Delivered, Bytes: s.Bytes, Lost: s.Lost + s.Overflows, Resent: j.stats.Link.Resent, Undelivered: j.unheard,
		Events: j.world.Events(), Hash: j.world.Hash(), net: j.net, end: max(j.end, 1),
	}
}
