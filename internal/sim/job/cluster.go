package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/engine"
	"weft/internal/engine/wire"
	"weft/internal/fault"
	"weft/internal/join"
	"weft/internal/sim"
	"weft/internal/timeline"
	"weft/internal/timeline/traceevent"
)

// A Cluster is a simulated cluster, and what is noted of a job on it. Package weft documents the fields.
type Cluster struct {
	Ranks    int
	PerHost  int
	Topology string
	Link     string
	MTU      int
	Loss     float64
	GoBackN  bool
	Liveness time.Duration
	Drift    int
	Faults   []fault.Fault
	Seed     uint64
	Log      io.Writer
	Timeline io.Writer
	Trace    io.Writer
	AMT      *amt.Table
}

// A Result is what is known of a job when it is over.
type Result struct {
	Time        time.Duration // virtual, when the last program returned
	Messages    uint64        // received
	Resent      uint64        // packets
	Undelivered int           // messages that no rank had accepted at the end
	Net         *sim.Network
	World       *sim.World
}

// Lost returns how many packets were lost, by chance or in full queues.
func (r *Result) Lost() uint64 { return r.Net.Stats.Lost + r.Net.Stats.Overflows }

// end returns when the job was over, for shares of the time until then.
func (r *Result) end() sim.Time { return max(sim.Time(r.Time), 1) }

// minMTU is the least MTU, in bytes: it leaves room for some payload in a packet.
const minMTU = 256

// job returns a job without ranks on the cluster, or says which field is wrong.
func (c *Cluster) job() (*Job, error) {
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
		return nil, &failure.ConfigError{Field: "Cluster.Ranks", Value: c.Ranks, Min: 1, Max: 1 << 20}
	case c.PerHost < 0 || c.PerHost > c.Ranks:
		return nil, &failure.ConfigError{Field: "Cluster.PerHost", Value: c.PerHost, Min: 0, Max: c.Ranks}
	case c.MTU < minMTU || c.MTU > 1<<16:
		return nil, &failure.ConfigError{Field: "Cluster.MTU", Value: c.MTU, Min: minMTU, Max: 1 << 16}
	case c.Drift < 0 || c.Drift > 1000:
		return nil, &failure.ConfigError{Field: "Cluster.Drift", Value: c.Drift, Min: 0, Max: 1000}
	case !(c.Loss >= 0 && c.Loss < 1):
		return nil, &failure.OptionError{Option: "Cluster.Loss", Value: fmt.Sprint(c.Loss),
			Takes: "the share of packets to lose, from 0 to less than 1"}
	}
	if err := fault.Check(c.Faults, c.Ranks); err != nil {
		return nil, err
	}
	w, err := sim.ParseWire(c.Link)
	if err != nil {
		return nil, ofField("Cluster.Link", err)
	}
	top, err := sim.ParseTopology(c.Topology, c.Ranks, w)
	if err != nil {
		return nil, ofField("Cluster.Topology", err)
	}
	return New(Config{
		Ranks: c.Ranks, PerHost: c.PerHost, MTU: c.MTU, Topology: top, Loss: c.Loss, Seed: c.Seed, Log: c.Log,
		Describe: wire.DescribePacket,
	}), nil
}

// ofField names the field of Cluster in an error of the simulator's parsers, which name the option of a command.
func ofField(field string, err error) error {
	var e *failure.OptionError
	if errors.As(err, &e) {
		e.Option = field
	}
	return err
}

// A run is a job whose ranks execute programs.
type run struct {
	cluster Cluster
	job     *Job
	ctx     context.Context
	cancel  context.CancelCauseFunc
	err     error // of the rank that failed first, or of the whole job
	members []*join.Member
	end     sim.Time
	result  Result

	departures *bootstrap.Departures
}

// Run runs a job on the cluster. Program returns what a rank executes, given its member. The error is that of the
// rank that failed first; without a Result the cluster is not possible.
func (c Cluster) Run(ctx context.Context, program func(m *join.Member) join.Program) (*Result, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	r := &run{cluster: c, job: j, departures: bootstrap.NewDepartures(c.Ranks)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	for rank := range c.Ranks {
		if err := r.add(rank, program); err != nil {
			return nil, err
		}
	}
	r.startFaults()
	r.play()
	r.result.Time = time.Duration(r.end)
	r.result.Net = r.job.Net
	r.result.World = r.job.World
	return &r.result, errors.Join(r.err, r.writeTimeline())
}

// fail ends the job with an error; the first error is kept.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.stop(err)
}

// stop ends the ranks' contexts.
func (r *run) stop(err error) {
	r.cancel(err)
	r.job.WakeAll()
}

// play runs the simulation until all ranks have ended, or cannot end.
func (r *run) play() {
	r.job.Play(func() {
		if r.ctx.Err() != nil {
			r.stop(context.Cause(r.ctx)) // from outside; what the ranks make of it counts
		}
	}, func() bool {
		if r.ctx.Err() != nil {
			r.fail(context.Cause(r.ctx))
			return false
		}
		r.fail(r.whatFor())
		return true
	})
}

// whatFor returns an error that says what every rank waits for.
func (r *run) whatFor() error {
	const most = 16
	text := ""
	for rank, p := range r.job.Ranks {
		if p.Ended() || p.Crashed() {
			continue
		}
		if rank == most {
			text += "\n  …"
			break
		}
		var lines []string
		r.members[rank].Node.Engine(func(e *engine.Engine) { lines = append(e.Unfinished(), e.Msg.Waiting()...) })
		lines = append(lines, p.Blocked()...)
		if len(lines) == 0 {
			lines = []string{"has returned, or waits for its own memory to change"}
		}
		for _, l := range lines {
			text += fmt.Sprintf("\n  rank %d: %s", rank, l)
		}
	}
	return fmt.Errorf("%w, at %v of virtual time:%s", failure.ErrStuck, time.Duration(r.job.World.Now()), text)
}

// writeTimeline writes the timelines of the ranks.
func (r *run) writeTimeline() error {
	if r.cluster.Timeline == nil {
		return nil
	}
	parts := make([]*timeline.Part, len(r.members))
	for rank, m := range r.members {
		parts[rank] = m.Part()
	}
	_, err := traceevent.Write(r.cluster.Timeline, parts)
	return err
}
