package weft

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/counters/directory"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/inbox"
	"weft/internal/record"
	"weft/internal/sharedmem"
	"weft/internal/timeline"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/waitgraph"
)

// A Proc is this process as a member of its job. Everything that a program
// does with weft hangs on it; there is no global state.
type Proc struct {
	job      bootstrap.Job
	cfg      Config
	src      bootstrap.Source
	node     *driver.Node
	wait     driver.Waiting
	trs      []transport.Transport
	memory   *sharedmem.Table   // memory of this process that peers can map
	poll     *doorbell.Poll     // the doorbell, unless it lies in shared memory
	eth      *eth.Transport     // or nil
	whyEth   string             // why it is used to other hosts
	noEth    string             // why there is no raw Ethernet
	record   *record.File       // takes a recording of the engine's inputs; may be nil
	trace    *amt.Tracer        // counts what is sent to each rank; may be nil
	timeline *timeline.Recorder // records operations and their times; may be nil
	amt      *amt.Share         // the receive rings that the job's AMT gives this rank; may be nil
	again    int                // how often the job has been started again
	page     *directory.File    // the counters that other processes can read; may be nil
	life     uint64             // this process's incarnation: random, so that no other has the same
	ctx      context.Context    // ends when the Proc is closed
	cancel   context.CancelFunc

	segment string // the address of UDP and TCP with its network, such as 10.0.0.1/24

	mu     sync.Mutex
	closed bool
	ports  map[*msg.Port]*Port
	routes map[int]route
	waits  waitgraph.Waits // for words of regions, and for signals

	regions   map[uint32]*Region // that are open, by number
	mailboxes map[*Mailbox]bool
	inboxes   *inbox.Host
	ways      *inbox.Ways // to the mailboxes of others

	barriers map[uint64]*hostBarrier                  // by what their names are in events
	flights  func(from int, to []int) []time.Duration // of events, where that is known
}

// Rank returns this process's number in the job, from 0 to Size()-1.
func (p *Proc) Rank() int { return p.job.Rank }

// Size returns the number of ranks in the job.
func (p *Proc) Size() int { return p.job.Size }

// Restarts returns how often weft run -restart has started the job again after a rank had failed: 0 in the first run.
func (p *Proc) Restarts() int { return p.again }

// Host returns the name of the host. Ranks with equal names may share memory.
func (p *Proc) Host() string { return p.job.Host }

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

// newProc makes the process of a source, with a node that has no transports.
func newProc(cfg *Config, src bootstrap.Source) (*Proc, error) {
	c, err := cfg.resolve(src.Job())
	if err != nil {
		return nil, err
	}
	p := &Proc{
		job: src.Job(), cfg: c, src: src,
		ports: map[*msg.Port]*Port{}, routes: map[int]route{},
		barriers: map[uint64]*hostBarrier{}, mailboxes: map[*Mailbox]bool{}, regions: map[uint32]*Region{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// newNode makes the node that runs the process, with a source of chance.
func (p *Proc) newNode(random func() uint64, c driver.Config) {
	c.Engine = p.engine(random)
	c.Timeline = p.timeline
	if p.record != nil {
		c.Record = p.record
	}
	p.wait = c.Wait
	p.node = driver.New(c)
	p.memory = sharedmem.NewTable(p.node)
	p.inboxes = &inbox.Host{Node: p.node, Memory: p.memory, Timeline: p.timeline, Rank: p.job.Rank, Size: p.job.Size}
	p.ways = inbox.NewWays(p.inboxes)
}

// engine returns what the engine must know, with a source of chance.
func (p *Proc) engine(random func() uint64) engine.Config {
	p.life = random() | 1
	return engine.Config{
		Rank: p.job.Rank, Size: p.job.Size, Job: p.job.ID, Secret: p.job.Secret,
		Incarnation: p.life, Link: p.cfg.link(), Rand: random, Counters: p.counters(),
	}
}

// random returns an unpredictable number: region keys and incarnations.
func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Now returns the time since some moment before the process joined. It never goes back. In a
// simulation it is virtual time, in which computing takes no time. Measure with Now rather
// than with package time.
func (p *Proc) Now() time.Duration { return p.node.Now() }

// Sleep returns after d, or earlier with the error of ctx. In a simulation it stands for the
// time that a computation takes.
func (p *Proc) Sleep(ctx context.Context, d time.Duration) error {
	if p.node.Hosted() {
		return failure.Waited(p.node.SleepHosted(ctx, d), "sleep", "")
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return failure.Waited(ctx.Err(), "sleep", "")
	}
}
