package vmmc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weft"
	"weft/extend"
)

// Config shapes an Endpoint. Zero values mean the defaults.
type Config struct {
	// NotifyBuffer bounds, in bytes, the notifications that wait to be handled; 0 means 64 KiB,
	// which is the least. Each takes 64 bytes. A sender whose notification finds no room waits.
	NotifyBuffer int
}

// An Endpoint is one rank's end of vmmc: its exports and imports. The endpoints of all ranks on the
// same channels belong together. Any number of goroutines may use an Endpoint.
type Endpoint struct {
	p       *weft.Proc
	channel int
	control *weft.Port // requests and replies
	notices *weft.Port // notifications that have not been handled
	bulk    *weft.Port // pieces of transfers to exports that can be redirected

	ctx    context.Context // ends when the endpoint is closed
	stop   context.CancelFunc
	tasks  []*weft.Task   // that move data: Close waits for them
	gate   *extend.Signal // notifications may be handled again, or the endpoint is closed
	mu     sync.Mutex     // of what follows
	closed bool
	failed error // of handlers
	held   bool  // notifications are blocked

	exports map[uint32]*Export
	names   map[string]*Export
	pending map[string][]pendingImport // imports of names that are not exported yet
	serial  uint32                     // of the last export

	peers []*peer
	spare *call
}

// Open opens an endpoint on three channels: channel, from 0 to 65533, and the two after it. They
// must serve nothing else. A nil cfg means the defaults. It does not wait for other ranks.
func Open(p *weft.Proc, channel int, cfg *Config) (*Endpoint, error) {
	const most = 1<<16 - 3
	if channel < 0 || channel > most {
		return nil, &weft.ConfigError{Field: "channel", Value: channel, Min: 0, Max: most}
	}
	e := &Endpoint{
		p: p, channel: channel, gate: extend.NewSignal(p), peers: make([]*peer, p.Size()),
		exports: map[uint32]*Export{}, names: map[string]*Export{}, pending: map[string][]pendingImport{},
	}
	for rank := range e.peers {
		e.peers[rank] = &peer{rank: rank, calls: map[uint64]*call{}, imports: map[uint32][]*Import{}}
	}
	room := weft.PortConfig{RecvBuffer: portRoom, SendBuffer: portRoom}
	waiting := room
	if cfg != nil && cfg.NotifyBuffer != 0 {
		waiting.RecvBuffer = cfg.NotifyBuffer
	}
	var err error
	for i, port := range []**weft.Port{&e.control, &e.bulk, &e.notices} {
		c := &room
		if i == 2 {
			c = &waiting
		}
		if *port, err = p.OpenPort(channel+i, c); err != nil {
			e.closePorts()
			return nil, err
		}
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.mu.Lock()
	e.task(e.dispatch)
	e.mu.Unlock()
	p.Go(e.notify) // which calls the program: Close does not wait for that
	return e, nil
}

// portRoom is the size of a port's buffers, in bytes. They hold short messages; long pieces of data
// wait in the memory of their senders.
const portRoom = 64 << 10

// maxRequests is how many requests to one rank may be under way.
const maxRequests = 512

func (e *Endpoint) closePorts() {
	for _, port := range []*weft.Port{e.control, e.bulk, e.notices} {
		if port != nil {
			port.Close()
		}
	}
}

// task starts a goroutine for which Close waits. The lock is held.
func (e *Endpoint) task(f func()) { e.tasks = append(e.tasks, e.p.Go(f)) }

// Close ends the endpoint at once: calls that wait end with weft.ErrClosed, and its exports end. A
// rank that still imports one learns of it by a RevokedError from Flush, or from a send that needs
// an answer; a program that calls Revoke before Close tells such ranks, and waits until they know.
// Close returns the HandlerErrors of notification handlers, joined. The slices of Export.Bytes must
// not be used any more.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return weft.ErrClosed
	}
	e.closed = true
	var ended []*Export
	for id := uint32(1); id <= e.serial; id++ {
		if x := e.exports[id]; x != nil {
			ended = append(ended, x)
			x.end(weft.ErrClosed)
		}
	}
	for _, p := range e.peers {
		p.fail(weft.ErrClosed)
		p.wakeServer()
	}
	tasks := e.tasks
	failed := e.failed
	e.mu.Unlock()
	for _, x := range ended {
		if x.matcher != nil { // whose transfers wait for this endpoint
			x.tell("its owner has closed its endpoint")
		}
	}
	e.stop()
	e.gate.Set()
	e.closePorts()
	for _, t := range tasks {
		_ = t.Wait(context.Background())
	}
	for _, x := range ended {
		x.leave()
	}
	return failed
}

// dispatch gives requests to the servers of their ranks, and replies to the calls that wait for
// them; it hears that a rank has died or left after all replies of that rank. It waits only for the
// next message, never for a peer.
func (e *Endpoint) dispatch() {
	for {
		m, err := e.control.Recv(e.ctx)
		if errors.Is(err, weft.ErrPeer) {
			e.lose(err)
			continue
		}
		if err != nil {
			return
		}
		if f, ok := parse(m.Data); ok && f.kind != 0 {
			e.mu.Lock()
			if f.kind.request() {
				e.peers[m.From].take(e, f)
			} else {
				e.reply(e.peers[m.From], f)
			}
			e.mu.Unlock()
		}
		m.Release()
	}
}

// lose ends what depends on a rank that has died or left, as a PeerError in an error says.
func (e *Endpoint) lose(err error) {
	var gone *weft.PeerError
	if !errors.As(err, &gone) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.peers[gone.Rank].fail(&weft.WaitError{Doing: fmt.Sprintf("vmmc: request to rank %d", gone.Rank), Err: gone})
	e.forget(gone)
}

// forget ends the imports of a rank that has died or left, and what waits for it. The lock is held.
func (e *Endpoint) forget(gone *weft.PeerError) {
	for name, ws := range e.pending {
		e.pending[name] = slices.DeleteFunc(ws, func(w pendingImport) bool { return w.rank == gone.Rank })
	}
	for id := uint32(1); id <= e.serial; id++ {
		if x := e.exports[id]; x != nil {
			x.lose(gone)
		}
	}
}

// catchUp ends at once the imports of ranks that have died or left, of which dispatch has not heard yet: their
// replies may still be on their way to it.
func (e *Endpoint) catchUp() {
	over, cancel := context.WithCancel(e.ctx)
	cancel()
	for gone := range e.p.Deaths(over) {
		e.mu.Lock()
		e.forget(gone)
		e.mu.Unlock()
	}
}
