package tcp

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Bind       string // address to listen at, port 0 for any; default "127.0.0.1:0"
	Rank, Size int
	Job        uint64
	Secret     []byte        // of the job
	Liveness   time.Duration // how long a peer may take for a handshake, if it is less than usual; 0: as usual
	Bell       transport.Doorbell
	Events     transport.Events

	// Encrypt reports whether what goes to a peer and comes from it is encrypted, which
	// the peer must know as well. It may block for a short time. Nil: never.
	Encrypt func(peer int) (bool, error)
}

// Transport implements transport.Transport.
type Transport struct {
	transport.Steady
	transport.Network

	cfg      Config
	listener *net.TCPListener
	door     handshake.Acceptor
	serving  sync.WaitGroup // the door
	streams  *sys.Streams
	alarm    *doorbell.Alarm

	done   chan struct{} // closed by Close
	mu     sync.Mutex    // of closed, and held while a connection is added
	closed bool
	peers  transport.PeerTable[peerConns]

	conns atomic.Pointer[[]*conn] // all of them; replaced, not changed
	turn  int                     // the connection that Poll looks at first
	lent  []transport.In          // by the last Poll
	ready []int
	write output
	mark  func(fd int)
}

// Open listens for peers.
func Open(cfg Config) (*Transport, error) {
	if cfg.Bind == "" {
		cfg.Bind = "127.0.0.1:0"
	}
	at, err := net.ResolveTCPAddr("tcp", cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("weft: tcp: %w", err)
	}
	if err := sys.CheckBind(at.AddrPort().Addr()); err != nil {
		return nil, fmt.Errorf("weft: tcp: bind address %q: %w", cfg.Bind, err)
	}
	t := &Transport{cfg: cfg, done: make(chan struct{})}
	t.mark = func(fd int) { t.ready = append(t.ready, fd) }
	t.conns.Store(new([]*conn))
	if t.listener, err = net.ListenTCP("tcp", at); err != nil {
		return nil, fmt.Errorf("weft: tcp: %w", err)
	}
	if t.streams, err = sys.NewStreams(t.ended, t.room); err == nil {
		t.alarm, err = doorbell.NewAlarm(cfg.Bell, t.streams.FD())
	}
	if err != nil {
		if t.streams != nil {
			t.streams.Close()
		}
		t.listener.Close()
		return nil, fmt.Errorf("weft: tcp: %w", err)
	}
	t.door.Limit = handshake.Room(cfg.Size)
	t.door.Handshake = t.enter
	t.serving.Go(func() { t.door.Serve(t.listener.Accept) })
	return t, nil
}

// Caps says what TCP can do.
func (t *Transport) Caps() transport.Caps {
	return transport.Caps{
		Name: "tcp", MTU: mtu, Reliable: true, Beats: true, Guards: "strangers that connect, damage (16 bits)",
	}
}

// Card is the address at which we listen.
func (t *Transport) Card() string { return t.listener.Addr().String() }

// PeerMTU returns the longest packet.
func (t *Transport) PeerMTU(peer int) int { return mtu }

// Send sends packets. Those to one peer leave together.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := 0; i < len(pkts); {
		bulk := pkts[i].Bulk
		c := t.to(pkts[i].Peer, bulk)
		if c == nil {
			return i
		}
		n := 1
		for n < batch && i+n < len(pkts) && pkts[i+n].Peer == c.peer && pkts[i+n].Bulk == bulk {
			n++
		}
		taken, err := c.send(pkts[i:i+n], &t.write)
		if err != nil {
			taken = n // it is lost, as its receiver is; the end of the stream is told by ended
		}
		if !c.full.Load() && len(c.out) > 0 { // while it is full, what is left belongs to room
			c.full.Store(true)
			t.streams.AwaitRoom(c.stream)
		}
		i += taken
		if taken < n {
			return i
		}
	}
	return len(pkts)
}

// to returns the connection by which we send packets to a peer, or nil.
func (t *Transport) to(peer int, bulk bool) *conn {
	p := t.peers.Sending(peer)
	switch {
	case p == nil:
		return nil
	case bulk:
		return p.forBulk()
	}
	return p.ordered
}

// few is the number of connections up to which it is cheaper to read from each than to ask the
// kernel which have something.
const few = 2

// Poll lends packets that have arrived. Every connection has its turn.
func (t *Transport) Poll(dst []transport.In) int {
	conns := *t.conns.Load()
	n := 0
	if len(conns) > few {
		t.ready = t.ready[:0]
		t.streams.Ready(t.mark)
	}
	for i := range conns {
		c := conns[(t.turn+i)%len(conns)]
		n = t.take(c, dst, n, len(conns) <= few || slices.Contains(t.ready, c.stream.FD()))
		if n == len(dst) {
			t.turn = (t.turn + i + 1) % len(conns)
			break
		}
	}
	t.lent = dst[:n]
	return n
}

// take lends packets of one connection. Ready says that it may have more to
// read.
func (t *Transport) take(c *conn, dst []transport.In, n int, ready bool) int {
	for first := true; n < len(dst); first = false {
		pkt, err := c.next()
		if pkt == nil && err == nil && first && ready && !c.dead {
			if err = c.read(); err == nil {
				pkt, err = c.next()
			}
		}
		if err != nil && !c.dead {
			c.dead = true
			t.streams.Drop(c.stream)
			t.over(c, err)
		}
		if pkt == nil {
			break
		}
		dst[n] = transport.In{From: c.peer, Data: pkt}
		n++
	}
	return n
}

// room is called when there is room in a stream again. It watches the stream anew, if need be,
// before Send may use the stream: Send would ask for room at the same time.
func (t *Transport) room(fd int, watch func(room bool)) {
	for _, c := range *t.conns.Load() {
		if c.stream.FD() == fd && c.full.Load() {
			left := c.rest()
			watch(left)
			c.full.Store(left)
			return
		}
	}
	watch(false)
}

// Release ends the loan of the last Poll. It gives empty buffers back at once, since the next Poll may
// come much later. It clears what Poll filled, since one packet there would keep a whole buffer from
// being collected.
func (t *Transport) Release() {
	clear(t.lent)
	for _, c := range *t.conns.Load() {
		c.forget()
	}
}

// Forget ends the connections to a peer, which tells it.
func (t *Transport) Forget(peer int) {
	for _, c := range *t.conns.Load() {
		if c.peer == peer && !c.dead {
			c.dead = true
			t.streams.Drop(c.stream)
			c.stream.End()
		}
	}
}

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() { t.alarm.Arm() }

// MemoryBytes returns what the receive buffers hold.
func (t *Transport) MemoryBytes() (n uint64) {
	for _, c := range *t.conns.Load() {
		if c.holds.Load() {
			n += uint64(len(input{}))
		}
	}
	return n
}

// Close ends all connections.
func (t *Transport) Close() error {
	t.mu.Lock()
	was := t.closed
	t.closed = true
	t.mu.Unlock()
	if was {
		return nil
	}
	close(t.done)
	t.listener.Close()
	t.serving.Wait()
	t.alarm.Close()
	t.streams.Close()
	for _, c := range *t.conns.Load() {
		c.stream.Finish(c.out)
	}
	return nil
}
