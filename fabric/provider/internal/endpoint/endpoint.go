package endpoint

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/match"
	"weft/internal/monotime"
)

// The channels of the two ports of an endpoint.
const (
	shortChannel = 1
	longChannel  = 2
)

// maxMessage is the longest message in bytes.
const maxMessage = 1 << 40

// An Endpoint sends messages to others and receives theirs. Any thread may call it.
type Endpoint struct {
	sent, received *Ring
	counters       Counters
	memory         *Memory
	bell           *doorbell.Poll
	networks       networks
	who            identity
	name           name
	start          time.Time
	looks          atomic.Uint64 // by the program; see background.go
	over           chan struct{} // closed when it is closing
	idle           chan struct{} // closed when the goroutine of background.go has ended

	mu          sync.Mutex
	closed      bool
	eng         *engine.Engine
	short, long *msg.Port
	peers       peers
	queues      [kinds]*match.Queues[arrival, *receive]
	posted      posted
	claimed     map[uintptr]arrival // by the context of the probe
	departed    int                 // of engine.Departures, those that have been handled
	polled      monotime.Time       // when the networks were looked at last
	told        monotime.Time       // to the engine
	quiet       int                 // looks at UDP that were left out
	scratch     scratch
	remote      remote
	spare       spare
}

// A Report is where an endpoint tells of what has ended: two rings, which may be the same, and counters.
type Report struct {
	Sent, Received *Ring
	Counters       Counters
}

// Open opens an endpoint. The environment, which env reads, says which job it belongs to and which network it takes.
// Others reach the memory. The warning says what the environment asks for and is not there.
func Open(to Report, memory *Memory, env func(string) string) (e *Endpoint, warning error, err error) {
	e = &Endpoint{
		sent: to.Sent, received: to.Received, counters: to.Counters, memory: memory, start: time.Now(),
		claimed: map[uintptr]arrival{}, over: make(chan struct{}), idle: make(chan struct{}),
	}
	if e.who, err = identify(env); err != nil {
		return nil, nil, err
	}
	liveness, err := silence(env(envLiveness))
	if err != nil {
		return nil, nil, err
	}
	if e.bell, err = doorbell.NewPoll(); err != nil {
		return nil, nil, err
	}
	e.name = name{id: e.who.id, job: e.who.job, life: random() | 1}
	if err := e.networks.open(&e.name, e.bell, env); err != nil {
		e.networks.close()
		e.bell.Close()
		return nil, nil, err
	}
	e.eng = engine.New(engine.Config{
		Rank: e.who.id, Size: maxID, Job: e.who.job, Secret: e.who.secret, Incarnation: e.name.life, Rand: random,
		Link: link.Config{Selective: true, Liveness: liveness},
	})
	if err := e.openPorts(); err != nil {
		return nil, nil, err
	}
	for k := range e.queues {
		e.queues[k] = match.NewQueues[arrival, *receive](0)
	}
	e.peers.byID = map[int]*peer{}
	self := e.meet(&e.name)
	e.eng.Connect(e.now(), self.id, engine.Path{MTU: 1 << 16})
	go e.background()
	return e, e.networks.noEth, nil
}

// openPorts opens the channels of short and of long messages.
func (e *Endpoint) openPorts() (err error) {
	if e.short, err = e.eng.Msg.Open(shortChannel, msg.Config{}); err == nil {
		e.long, err = e.eng.Msg.Open(longChannel, msg.Config{MaxMessage: maxMessage})
	}
	return err
}

// defaultSilence is after which time without a sign of life a peer counts as dead. It is longer than in jobs of weft:
// debuggers stop processes, and a launcher that watches them ends the job sooner anyway.
const defaultSilence = 30 * time.Second

// silence reads the time from the environment.
func silence(text string) (time.Duration, error) {
	if text == "" {
		return defaultSilence, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("weft: %s=%q: must be a time such as 30s, or 0 for none", envLiveness, text)
	}
	if d == 0 {
		d = -1
	}
	return d, nil
}

// Name returns what others insert.
func (e *Endpoint) Name() [NameSize]byte { return e.name.bytes() }

// now reads the clock.
func (e *Endpoint) now() monotime.Time { return monotime.Time(time.Since(e.start)) }

// patience is how long Close waits for what is still on its way.
const patience = time.Second

// Close tells the others that this endpoint leaves, when what it has sent is acknowledged or the time is over, and
// gives everything back. The program must not use buffers of operations that have not ended before Close has returned.
func (e *Endpoint) Close() {
	close(e.over)
	<-e.idle
	e.mu.Lock()
	defer e.mu.Unlock()
	e.eng.Msg.Drain()
	end := e.now().Add(patience)
	e.await(func() bool { return e.short.Settled() && e.long.Settled() && e.eng.Idle() }, end)
	e.eng.Leave("")
	e.await(e.eng.Idle, end)
	e.closed = true
	e.networks.close()
	e.bell.Close()
}

// await runs the protocol until done, or until the time is over.
func (e *Endpoint) await(done func() bool, end monotime.Time) {
	for e.progress(everything); !done() && e.now() < end; e.progress(everything) {
		time.Sleep(20 * time.Microsecond)
	}
}
