package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"weft"
)

// A Network is a rank's end of the connections that the ranks of a job have with each
// other over one channel: it dials ranks, and listens for them. It uses the transports of
// the job, so it is the same between processes of a host, between hosts and in the simulator.
// Any number of goroutines may call its methods at the same time.
//
// In a simulation these, those of its connections and those of its listener may also be
// called by goroutines that a go statement has started, such as the ones of an HTTP
// server: they wait in Go, and the goroutines of the Network do what needs weft. Deadlines are
// virtual time there; those of goroutines that wait for timers of package time are not.
type Network struct {
	p       *weft.Proc
	port    *weft.Port
	channel int
	window  int // that each connection grants its peer
	most    int // of a backlog
	hosted  bool

	ctx    context.Context // ends with the Proc
	cancel context.CancelFunc
	chunks chunkPool

	mu       sync.Mutex
	conns    map[connID]*RankConn
	next     uint64 // number of a connection that is dialled
	gone     map[int]error
	listener *RankListener
	deaf     bool        // the listener has been closed
	opens    []*RankConn // that ranks have dialled, and that wait for a listener with room
	due      []*RankConn // that have frames for the sender
	jobs     []func()    // for the sender
	closing  bool
	work     *weft.Signal  // wakes the sender
	sent     chan struct{} // closed when it has nothing to send after Close
}

// A connID tells the connections of a rank apart.
type connID struct {
	rank int
	n    uint64
	mine bool // this rank has dialled
}

// mostOpens bounds the connections that wait for a listener.
const mostOpens = 1 << 16

// Over is Config.Over with the zero Config.
func Over(ctx context.Context, p *weft.Proc, channel int) (*Network, error) {
	return new(Config).Over(ctx, p, channel)
}

// Over makes a network of connections among the ranks of a job that call it for the same
// channel, 0 to 65535. The channel must serve nothing else. Of the Config, Buffer bounds
// what a connection holds of what its peer has written, and Backlog counts; how calls wait
// is the job's matter. ctx counts only until Over returns. The network ends with Close, and with
// the Proc.
func (cfg *Config) Over(ctx context.Context, p *weft.Proc, channel int) (*Network, error) {
	window, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	port, err := p.Open(ctx, channel, &weft.PortConfig{MaxMessage: headerBytes + mostPayload})
	if err != nil {
		return nil, err
	}
	n := &Network{
		p: p, port: port, channel: channel, window: window, most: cfg.backlog(), hosted: p.Simulated(),
		conns: map[connID]*RankConn{}, gone: map[int]error{}, work: p.Signal(), sent: make(chan struct{}),
		next: uint64(p.Now()), // no network of this rank on this channel has come so far before
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	for _, run := range []func(){n.receive, n.send, n.watch} {
		p.Go(run)
	}
	if n.hosted { // goroutines that use the network wait in Go, and the world is to wait until they do
		p.Go(func() { <-n.ctx.Done() })
	}
	return n, nil
}

// Dial connects to a rank, and waits until a listener of its network takes the connection,
// until the rank is gone, or until ctx ends. If the rank's listener has been closed the error
// is syscall.ECONNREFUSED.
func (n *Network) Dial(ctx context.Context, rank int) (*RankConn, error) {
	c, err := n.dial(ctx, rank)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "weft", Addr: RankAddr{rank, n.channel}, Err: err}
	}
	return c, nil
}

func (n *Network) dial(ctx context.Context, rank int) (*RankConn, error) {
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
	c.mu.Lock()
	c.control(frame{kind: frameOpen, arg: uint32(n.window)})
	c.mu.Unlock()
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

// DialContext is Dial for what wants the address in text, such as http.Transport and
// grpc.WithContextDialer: rank3, or what RankAddr prints. The network's name does not count.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	digits, ok := strings.CutPrefix(host, "rank")
	rank, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return nil, &net.OpError{Op: "dial", Net: "weft", Err: &net.AddrError{Err: "an address inside a job is rank and a number, such as rank3", Addr: address}}
	}
	c, err := n.Dial(ctx, rank)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the network, its listener and its connections. It waits until what they had
// to say has been sent, for a second at most. The channel stays in use as long as the Proc is
// open, so that what others still say to this rank is heard: it is dropped, and whoever dials is refused.
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

// Addr returns the address of this rank, a RankAddr.
func (n *Network) Addr() net.Addr { return RankAddr{n.p.Rank(), n.channel} }

// end ends the listener and each connection.
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

// receive hands out what arrives, until the Proc ends.
func (n *Network) receive() {
	for {
		m, err := n.port.Recv(n.ctx)
		switch {
		case err == nil:
			n.dispatch(m.From, m.Data)
			m.Release()
		case errors.Is(err, weft.ErrPeer): // watch tells of it
		default:
			n.mu.Lock()
			n.closing = true
			n.mu.Unlock()
			n.end(func(c *RankConn) error {
				c.lost(err)
				return nil
			})
			n.cancel()
			return
		}
	}
}

// watch tells of ranks that are gone: by a message to this rank itself, which arrives after
// all that they had sent.
func (n *Network) watch() {
	for d := range n.p.Deaths(n.ctx) {
		n.mu.Lock()
		n.gone[d.Rank] = d
		n.mu.Unlock()
		var b [headerBytes]byte
		frame{kind: frameDeparted, arg: uint32(d.Rank)}.put(b[:])
		if n.port.Send(n.ctx, n.p.Rank(), b[:]) != nil {
			return
		}
	}
}

// dispatch does what a frame says. What cannot be, and what belongs to a connection that
// has been closed, is dropped.
func (n *Network) dispatch(from int, b []byte) {
	f, payload, err := parseFrame(b)
	if err != nil {
		return
	}
	switch f.kind {
	case frameOpen:
		n.opened(from, f)
	case frameDeparted:
		if from == n.p.Rank() {
			n.departed(int(f.arg))
		}
	default:
		n.mu.Lock()
		c := n.conns[connID{from, f.id, !f.dialled}]
		n.mu.Unlock()
		if c != nil {
			c.handle(f, payload)
		}
	}
}

// opened takes a connection that a rank has dialled.
func (n *Network) opened(from int, f frame) {
	c := n.newConn(connID{from, f.id, false})
	c.grant = min(uint64(f.arg), MostBuffer)
	n.mu.Lock()
	refused := n.closing || n.deaf || n.conns[c.id] != nil || len(n.opens) >= mostOpens
	if !refused {
		n.conns[c.id] = c
		n.opens = append(n.opens, c)
	}
	n.mu.Unlock()
	if refused {
		c.mu.Lock()
		c.control(frame{kind: frameRefuse})
		c.mu.Unlock()
		return
	}
	n.admit()
}

// admit gives the listener as many connections as it has room for.
func (n *Network) admit() {
	for {
		n.mu.Lock()
		l := n.listener
		if l == nil || len(n.opens) == 0 || l.backlog.full() {
			n.mu.Unlock()
			return
		}
		c := n.opens[0]
		n.opens[0] = nil
		n.opens = n.opens[1:]
		n.mu.Unlock()
		if c.accept() && !l.backlog.put(c) {
			c.Close()
		}
	}
}

// departed ends the connections to a rank that is gone.
func (n *Network) departed(rank int) {
	n.mu.Lock()
	why := n.gone[rank]
	var conns []*RankConn
	for id, c := range n.conns {
		if id.rank == rank {
			conns = append(conns, c)
		}
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.lost(why)
	}
}

// forget takes a connection off the table: what still arrives for it is dropped.
func (n *Network) forget(c *RankConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c.id)
}

// after calls f when d has passed, in virtual time if there is one, unless stop is called
// before.
func (n *Network) after(d time.Duration, f func()) (stop func()) {
	if !n.hosted {
		t := time.AfterFunc(d, f)
		return func() { t.Stop() }
	}
	ctx, cancel := context.WithCancel(n.ctx)
	d = min(max(d, 0), math.MaxInt64/2).Round(time.Millisecond) // what has passed meanwhile is no virtual time
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

// A RankAddr is the address of a rank in a Network.
type RankAddr struct {
	Rank, Channel int
}

// Network returns "weft".
func (a RankAddr) Network() string { return "weft" }

// String returns the rank and the channel as a host and a port are written: rank3:7.
func (a RankAddr) String() string { return fmt.Sprintf("rank%d:%d", a.Rank, a.Channel) }

// A RankListener is a net.Listener for connections that other ranks, or this one, dial.
type RankListener struct {
	n       *Network
	backlog backlog
}

// Listen returns the listener of the network. There is one at a time. Connections that
// ranks have dialled before wait for it.
func (n *Network) Listen() (*RankListener, error) {
	n.mu.Lock()
	if n.closing || n.listener != nil {
		err := net.ErrClosed
		if !n.closing {
			err = errors.New("the network has a listener already")
		}
		n.mu.Unlock()
		return nil, &net.OpError{Op: "listen", Net: "weft", Addr: n.Addr(), Err: err}
	}
	l := &RankListener{n: n}
	l.backlog.init(n.most)
	n.listener, n.deaf = l, false
	n.mu.Unlock()
	n.admit()
	return l, nil
}

// Accept waits for the next connection, a *RankConn. After Close it returns an error that
// is net.ErrClosed.
func (l *RankListener) Accept() (net.Conn, error) {
	c := l.backlog.accept()
	if c == nil {
		return nil, &net.OpError{Op: "accept", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.n.admit()
	return c, nil
}

// Close ends the listening: ranks that dial are refused. Connections that have been
// accepted stay, others are closed.
func (l *RankListener) Close() error {
	if !l.backlog.close() {
		return &net.OpError{Op: "close", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
	}
	n := l.n
	n.mu.Lock()
	opens := n.opens
	n.opens = nil
	n.listener, n.deaf = nil, true
	n.mu.Unlock()
	for _, c := range opens {
		c.refuse()
	}
	return nil
}

// Addr returns the address, a RankAddr.
func (l *RankListener) Addr() net.Addr { return l.n.Addr() }
