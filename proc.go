package weft

import (
	"context"
	"sync"
	"time"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/engine/msg"
	"weft/internal/inbox"
	"weft/internal/join"
	"weft/internal/sharedmem"
	"weft/internal/timeline"
	"weft/internal/transport"
	"weft/internal/waitgraph"
)

// A Proc is this process as a member of its job. Everything that a program
// does with weft hangs on it; there is no global state.
type Proc struct {
	member   *join.Member // the launcher, the transports, and what is recorded of this process
	job      bootstrap.Job
	node     *driver.Node
	memory   *sharedmem.Table   // memory of this process that peers can map
	timeline *timeline.Recorder // records operations and their times; may be nil
	inboxes  *inbox.Host
	ways     *inbox.Ways     // to the mailboxes of others
	waits    waitgraph.Waits // for words of regions, and for signals
	open     opened
	arenas   arenas // memory of barriers
}

// opened is what the program has opened of a Proc and has not closed.
type opened struct {
	sync.Mutex
	closed    bool // the Proc is
	ports     map[*msg.Port]*Port
	regions   map[uint32]*Region // by number
	mailboxes map[*Mailbox]bool
	barriers  map[uint64]*hostBarrier // by what their names are in events
	libraries map[any]any             // what each keeps for this Proc
}

// newProc returns the process of a member that has a node.
func newProc(m *join.Member) *Proc {
	p := &Proc{
		member: m, job: m.Job, node: m.Node, memory: m.Memory, timeline: m.Timeline,
		inboxes: &inbox.Host{Node: m.Node, Memory: m.Memory, Timeline: m.Timeline, Rank: m.Job.Rank, Size: m.Job.Size},
		open: opened{
			ports: map[*msg.Port]*Port{}, regions: map[uint32]*Region{}, mailboxes: map[*Mailbox]bool{},
			barriers: map[uint64]*hostBarrier{}, libraries: map[any]any{},
		},
	}
	p.ways = inbox.NewWays(p.inboxes)
	p.arenas.mapped = map[int][]*transport.Mapping{}
	m.Answer(p.report)
	return p
}

// Rank returns this process's number in the job, from 0 to Size()-1.
func (p *Proc) Rank() int { return p.job.Rank }

// Size returns the number of ranks in the job.
func (p *Proc) Size() int { return p.job.Size }

// Restarts returns how often weft run -restart has started the job again after a rank had failed: 0 in the first run.
func (p *Proc) Restarts() int { return p.member.Restarts }

// Host returns the name of the host. Ranks with equal names may share memory.
func (p *Proc) Host() string { return p.job.Host }

// Waiting says in words how the waiting goroutines of this process wait, and why.
func (p *Proc) Waiting() string { return p.member.DescribeWaiting() }

// Simulated reports whether the process runs in a simulation, in virtual time (see Simulate).
// Libraries that start goroutines need to know: there, Proc.Go takes the place of go.
func (p *Proc) Simulated() bool { return p.node.Hosted() }

// check returns a RankError unless the job has the rank.
func (p *Proc) check(rank int) error {
	if rank < 0 || rank >= p.job.Size {
		return &RankError{Rank: rank, Size: p.job.Size}
	}
	return nil
}

// count counts a message of n bytes to a rank, if there is a trace.
func (p *Proc) count(to int, kind amt.Kind, n int) {
	if t := p.member.Trace; t != nil {
		t.Add(to, kind, n)
	}
}

// Now returns the time since some moment before the process joined. It never goes back. In a
// simulation it is virtual time, in which computing takes no time. Measure with Now rather
// than with package time.
func (p *Proc) Now() time.Duration { return p.node.Now() }

// Sleep returns after d, or earlier with the error of ctx. In a simulation it stands for the
// time that a computation takes.
func (p *Proc) Sleep(ctx context.Context, d time.Duration) error {
	ctx = driver.Endless(ctx)
	if p.node.Hosted() {
		return failure.Waited(p.node.SleepHosted(ctx, d), "sleep", "")
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.member.Open.Done():
		return ErrClosed
	case <-ctx.Done():
		return failure.Waited(ctx.Err(), "sleep", "")
	}
}
