package stream

import (
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"weft"
	"weft/extend"
)

// A Network is one rank's end of the connections that the ranks of a job have with each other over
// one channel. It dials ranks and listens for them, over the job's own transports: within a host,
// between hosts, and in the simulator. Any number of goroutines may call its methods at the same
// time.
//
// In a simulation any goroutine may call the methods of the Network, of its listener and of its
// connections, also one that a go statement has started, such as those of an HTTP server. These wait
// in Go, and goroutines of the Network make the calls of package weft. Deadlines of connections are
// virtual time there; timers of package time are not.
type Network struct {
	p       *weft.Proc
	port    *weft.Port
	channel int
	window  int  // bytes that each connection lets its peer be ahead
	most    int  // connections in the listener's backlog
	hosted  bool // in a simulation

	ctx    context.Context // ends with the Proc
	cancel context.CancelFunc
	chunks chunkPool

	mu       sync.Mutex
	conns    map[connID]*RankConn
	next     uint64        // number of the last connection that was dialled
	gone     map[int]error // by rank, why it has left the network
	listener *RankListener
	deaf     bool        // the listener has been closed: dials are refused
	opens    []*RankConn // connections that ranks have dialled and that the listener has not taken yet
	due      []*RankConn // connections with frames for the sending goroutine
	jobs     []func()    // for the sending goroutine
	closing  bool
	work     *extend.Signal // wakes the sending goroutine
	sent     chan struct{}  // closed when the sending goroutine has nothing more to send after Close
}

// A connID identifies a connection at one rank.
type connID struct {
	rank int    // the peer
	n    uint64 // chosen by the rank that has dialled
	mine bool   // this rank has dialled
}

// Open is Config.Open with the zero Config.
func Open(p *weft.Proc, channel int) (*Network, error) {
	return new(Config).Open(p, channel)
}

// Open makes a network of connections among the ranks of a job that call it with the same channel,
// 0 to 65535, which must serve nothing else. Config.Buffer bounds how many unread bytes a connection
// holds, and Config.Backlog the connections that wait for Accept. The other fields have no effect. The
// network ends with Close, and with the Proc.
func (cfg *Config) Open(p *weft.Proc, channel int) (*Network, error) {
	window, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	port, err := p.OpenPort(channel, &weft.PortConfig{MaxMessage: headerBytes + mostPayload, Service: true})
	if err != nil {
		return nil, err
	}
	n := &Network{
		p: p, port: port, channel: channel, window: window, most: cfg.backlog(), hosted: p.Simulated(),
		conns: map[connID]*RankConn{}, gone: map[int]error{}, work: extend.NewSignal(p), sent: make(chan struct{}),
		next: uint64(p.Now()), // higher than the numbers of earlier networks of this rank on this channel
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	for _, run := range []func(){n.receive, n.send, n.watch} {
		p.Go(run)
	}
	if n.hosted { // a goroutine that always waits in Go makes the world wait for the goroutines that use the network
		p.Go(func() { <-n.ctx.Done() })
	}
	return n, nil
}

// Dial connects to a rank. It waits until the listener of that rank's network takes the connection,
// also for a rank that does not listen yet. The error matches
//   - syscall.ECONNREFUSED if the rank's listener has been closed,
//   - weft.ErrPeer if the rank has died,
//   - weft.ErrRank if there is no such rank,
//   - the cause of ctx if ctx ends first.
func (n *Network) Dial(ctx context.Context, rank int) (*RankConn, error) {
	c, err := n.dial(ctx, rank)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "weft", Addr: RankAddr{rank, n.channel}, Err: err}
	}
	return c, nil
}

func (n *Network) dial(ctx context.Context, rank int) (*RankConn, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if rank < 0 || rank >= n.p.Size() {
		return nil, &weft.RankError{Rank: rank, Size: n.p.Size()}
	}
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		return nil, net.ErrClosed
	}
	n.next++
	c := n.newConn(connID{rank, n.next, true})
	c.answered = make(chan error, 1)
	n.conns[c.id] = c
	gone := n.gone[rank]
	n.mu.Unlock()
	if gone != nil {
		c.lost(gone)
	}
	c.open()
	if at, ok := ctx.Deadline(); ok && n.hosted {
		defer n.after(time.Until(at), func() { c.answer(context.DeadlineExceeded) })()
	}
	var err error
	select {
	case err = <-c.answered:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// DialContext is Dial for packages that give an address as text, such as net/http (Transport) and
// gRPC (WithContextDialer). The address is rank and a number, such as rank3, or what
// RankAddr.String returns; the name of the network has no effect.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	digits, ok := strings.CutPrefix(host, "rank")
	rank, err := strconv.Atoi(digits)
	if !ok || err != nil {
		why := &net.AddrError{Err: "an address inside a job is rank and a number, such as rank3", Addr: address}
		return nil, &net.OpError{Op: "dial", Net: "weft", Err: why}
	}
	return asConn(n.Dial(ctx, rank))
}

// Close ends the network, its listener and its connections. It waits until the peers have been
// told, for a second at most. The channel stays in use until the Proc is closed: what other ranks
// still send on it is dropped, and their dials are refused.
func (n *Network) Close() error {
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		return &net.OpError{Op: "close", Net: "weft", Addr: n.Addr(), Err: net.ErrClosed}
	}
	n.closing = true
	n.mu.Unlock()
	n.end((*RankConn).Close)
	n.work.Set()
	var late <-chan time.Time
	if !n.hosted {
		late = time.After(time.Second)
	}
	select {
	case <-n.sent:
	case <-late:
	case <-n.ctx.Done():
	}
	return nil
}

// Addr returns the address of this rank, a [RankAddr].
func (n *Network) Addr() net.Addr { return RankAddr{n.p.Rank(), n.channel} }

// end closes the listener, and calls conn for each connection.
func (n *Network) end(conn func(*RankConn) error) {
	n.mu.Lock()
	l := n.listener
	var conns []*RankConn
	for _, c := range n.conns {
		conns = append(conns, c)
	}
	n.mu.Unlock()
	if l != nil {
		l.Close()
	}
	for _, c := range conns {
		_ = conn(c)
	}
}

// forget removes a connection from the table: what still arrives for it is dropped.
func (n *Network) forget(c *RankConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c.id)
}

// after calls f when d has passed, in virtual time in a simulation, unless stop is called first.
func (n *Network) after(d time.Duration, f func()) (stop func()) {
	if !n.hosted {
		t := time.AfterFunc(d, f)
		return func() { t.Stop() }
	}
	ctx, cancel := context.WithCancel(n.ctx)
	d = min(max(d, 0), math.MaxInt64/2).Round(time.Millisecond) // hides the real time that the call has taken
	n.mu.Lock()
	n.jobs = append(n.jobs, func() {
		n.p.Go(func() {
			if n.p.Sleep(ctx, d) == nil {
				f()
			}
		})
	})
	n.mu.Unlock()
	n.work.Set()
	return cancel
}

// A RankAddr is the address of a rank in a Network: the rank and the network's channel.
type RankAddr struct {
	Rank, Channel int
}

// Network returns "weft".
func (a RankAddr) Network() string { return "weft" }

// String returns the rank and the channel in the form host:port, such as rank3:7.
func (a RankAddr) String() string { return fmt.Sprintf("rank%d:%d", a.Rank, a.Channel) }
