// Package join makes a process a rank of its job: it opens the transports, tells the other ranks how this one is
// reached, chooses how they are reached, and records what the environment asks for. A Member owns all of that, and
// gives everything back when it is closed, or when joining fails. Package weft is built on it. How a process finds
// its job is the matter of package bootstrap/environment.
//
// Tested in this directory, and in package weft over every transport.
package join

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/counters/directory"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/handshake"
	"weft/internal/sharedmem"
	"weft/internal/timeline"
	"weft/internal/transport"
	"weft/internal/transport/eth"
)

// A Member is a process as a rank of its job, below the calls of package weft.
//
//	state    calls                    holds
//	made     New                      its source
//	node     NewNode                  a node, which does not run yet
//	running  Run, Enter or Join  transports, and a node that runs on them
//	closed   Close                    nothing
type Member struct {
	Job      bootstrap.Job
	Settings Settings
	Source   bootstrap.Source
	Restarts int         // how often the job has been started again
	Life     uint64      // this process's incarnation: random, so that no other has the same
	AMT      *amt.Share  // the receive rings that the job's AMT gives this rank; may be nil
	Trace    *amt.Tracer // counts what is sent to each rank; may be nil

	Node       *driver.Node
	Waiting    driver.Waiting
	Memory     *sharedmem.Table      // memory of this process that peers can map
	Transports []transport.Transport // those that are preferred come first
	Timeline   *timeline.Recorder    // records operations and their times; may be nil
	Open       context.Context       // ends when the node has been closed

	handOver func() error // sends the timeline to the launcher, once; nil if there is none to send

	page     *directory.File // the counters that other processes can read; may be nil
	card     Card
	bell     transport.Doorbell
	eth      *eth.Transport     // or nil
	noEth    string             // why there is no raw Ethernet
	noFabric string             // why libfabric is not used
	cancel   context.CancelFunc // of Open
	failed   string             // why the program of this rank has failed, or ""
	undo     cleanup

	mu     sync.Mutex
	routes map[int]Route
}

// A cleanup gives back what has been opened, the last first.
type cleanup []func() error

func (c *cleanup) add(f func() error) { *c = append(*c, f) }

// run does it, once.
func (c *cleanup) run() error {
	var errs []error
	for _, f := range slices.Backward(*c) {
		errs = append(errs, f())
	}
	*c = nil
	return errors.Join(errs...)
}

// How long a member that leaves waits for receivers that accept nothing; if its program has failed, the others are to
// hear of it soon.
const (
	ClosePatience = time.Second
	FailPatience  = 200 * time.Millisecond
)

// New makes a rank of the job that a source tells of. It owns the source.
func New(s Settings, src bootstrap.Source) (*Member, error) {
	m := &Member{Job: src.Job(), Settings: s, Source: src, routes: map[int]Route{}}
	m.Open, m.cancel = context.WithCancel(context.Background())
	m.undo.add(src.Close)
	if err := m.Settings.Resolve(m.Job); err != nil {
		m.abandon()
		return nil, err
	}
	return m, nil
}

// Join makes this process the rank that a source tells of, in the way that the environment asks for. If it fails
// nothing is left of it.
func Join(ctx context.Context, s Settings, src bootstrap.Source) (*Member, error) {
	m, err := New(s, src)
	if err != nil {
		return nil, err
	}
	if err := m.obey(); err != nil {
		m.abandon()
		return nil, err
	}
	if err := m.Enter(ctx); err != nil {
		return nil, err
	}
	m.serveStatus()
	return m, nil
}

// Enter opens the transports of a member that New has made, runs it on them, and tells the other ranks how it is
// reached. If it fails nothing is left of the member.
func (m *Member) Enter(ctx context.Context) error {
	keys := handshake.NewEphemeral()
	m.card.Share = keys.Share()
	c := driver.Config{Route: m.route, Least: m.LeastGuard, Wait: m.waiting()}
	c.Engine.Agreement = link.Agreement{
		Share: m.card.Share, Root: func(share []byte) []byte { return keys.Root(m.Job.Secret, share) },
	}
	m.NewNode(Random, c)
	err := m.openTransports()
	if err == nil {
		m.start()
		m.card.Host = m.Job.Host
		m.card.Life = m.Life
		m.card.Guard = m.Settings.Guard
		err = m.Source.Put(ctx, cardKey, m.card.String())
	}
	if err != nil {
		m.abandon()
		return err
	}
	m.Source.Watch(m.Ended)
	return nil
}

// NewNode makes the node, with a source of chance. Of the engine's configuration it uses Agreement alone.
func (m *Member) NewNode(random func() uint64, c driver.Config) {
	m.Life = random() | 1
	c.Engine = engine.Config{
		Rank: m.Job.Rank, Size: m.Job.Size, Job: m.Job.ID, Secret: m.Job.Secret,
		Incarnation: m.Life, Link: m.Settings.link(), Rand: random, Agreement: c.Engine.Agreement,
	}
	if m.page != nil {
		c.Engine.Counters = m.page.Page
	}
	c.Await = m.Source.Await
	c.Timeline = m.Timeline
	m.Waiting = c.Wait
	m.Node = driver.New(c)
	m.Memory = sharedmem.NewTable(m.Node)
}

// Run runs the node of a member on a transport that its process has opened by itself. It owns the transport.
func (m *Member) Run(bell transport.Doorbell, t transport.Transport, memory transport.Memory) {
	m.use(t)
	m.Memory.Memory = memory
	m.bell = bell
	m.start()
}

// start runs the node on Transports.
func (m *Member) start() {
	m.Node.Start(m.bell, m.Transports...)
	m.offerTimeline()
	m.undo.add(m.endTimeline)
	m.undo.add(func() error {
		patience := ClosePatience
		if m.failed != "" {
			patience = FailPatience
		}
		m.Node.Close(patience, m.failed)
		m.cancel()
		return nil
	})
}

// Random returns an unpredictable number: region keys and incarnations.
func Random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Fail tells the launcher that the program of this rank has failed, and why; because is the rank whose end is the
// cause, or -1. Close tells the other ranks then.
func (m *Member) Fail(why string, because int) {
	m.failed = why
	m.Source.Fail(why, because)
}

// Close leaves the job and gives everything back. Calling it again does nothing.
func (m *Member) Close() error { return m.undo.run() }

// abandon is Close for a member that has not joined: nothing has used its counters.
func (m *Member) abandon() {
	m.cancel()
	_ = m.undo.run() // why it has not joined is what counts
	if m.page != nil {
		m.page.Unmap()
	}
}

// Ended is told by the launcher that a rank has ended. A negative rank stands for the
// launcher itself, with which all ranks end.
func (m *Member) Ended(rank int, cause error) {
	if errors.Is(cause, bootstrap.ErrReturned) {
		m.Node.Returned(rank)
		return
	}
	if rank >= 0 {
		m.Node.Down(rank, cause, errors.Is(cause, bootstrap.ErrExited))
		return
	}
	for r := range m.Job.Size {
		if r != m.Job.Rank {
			m.Node.Down(r, cause, false)
		}
	}
}
