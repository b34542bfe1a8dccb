package shm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/ring"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Config is what the transport of a process must know.
type Config struct {
	Rank, Size int
	Job        uint64
	Secret     []byte
	Events     transport.Events

	// Promote is how many packets a process sends to a peer before it claims
	// a ring of its own there; 0 means 32.
	Promote int

	// Own reports whether this process claims a ring at a peer with its first packet,
	// if one is free there. It claims none at other peers. nil: Promote decides.
	Own func(peer int) bool

	// Liveness is how long a peer's heartbeat may stand still; 0 means for
	// ever.
	Liveness time.Duration
}

// Transport implements transport.Transport and transport.Memory.
type Transport struct {
	transport.Steady

	cfg      Config
	seg      segment
	fd       int
	bell     *doorbell.Futex
	listener *net.UnixListener
	door     handshake.Acceptor
	name     string
	done     chan struct{} // closed by Close
	wg       sync.WaitGroup

	mu     sync.Mutex // guards peers being added and what Memory keeps
	peers  map[int]*peer
	shared map[uint32]*area
	lastID uint32
	closed bool

	// Used by one goroutine at a time: Send, Poll, Release.
	out    transport.PeerTable[peer]
	inbox  *ring.InboxConsumer
	active []*incoming
	listed atomic.Pointer[[]*incoming] // active, for Pending
	claims uint64
	lent   int // packets of the inbox that are on loan
	first  int // the ring before the one with which the next Poll or Peek begins; or the one whose packet Peek has lent
	seen   int // bytes of that packet
}

// A peer is another process whose segment is mapped here.
type peer struct {
	t      *Transport
	rank   int
	pid    int
	seg    segment
	bell   *doorbell.Futex
	conns  []*net.UnixConn
	beat   uint64      // its heartbeat when last looked at
	still  int         // for how many looks it has been the same
	down   atomic.Bool // reported
	exited atomic.Bool // its process is gone, not only silent
	noRead atomic.Bool // its memory cannot be read

	// Sending.
	sender *ring.InboxProducer
	own    *ring.Producer // nil until it has been claimed
	ring   int            // the ring claimed, or -1
	sent   int            // packets put into the inbox
	tried  int            // value of sent when a claim last failed
	after  int            // packets into the inbox before a claim, and before it is tried again

	// What is said of memory; see handover.go. t.mu guards it.
	mapped  map[view]*transport.Mapping // of the peer's
	asking  sync.Mutex                  // held while an answer is waited for
	request *request                    // whose answer that is
	untold  []record                    // to be sent
	telling bool                        // a goroutine sends them
	owed    int                         // answers among them
}

// An incoming is a ring that a peer has claimed.
type incoming struct {
	rank  int
	index int
	c     *ring.Consumer
	lent  int
	bytes int
}

// Open makes the segment of this process and waits for peers.
func Open(cfg Config) (*Transport, error) {
	if cfg.Promote == 0 {
		cfg.Promote = 32
	}
	fd, mem, err := sys.NewMemory("weft", segmentSize, false)
	if err != nil {
		return nil, err
	}
	t := &Transport{
		cfg: cfg, seg: segment{mem}, fd: fd, done: make(chan struct{}),
		peers: map[int]*peer{}, shared: map[uint32]*area{},
	}
	t.seg.word(offMagic).Store(segmentMagic)
	t.bell = doorbell.NewFutex(t.seg.bell())
	t.inbox = ring.NewInboxConsumer(t.seg.inbox(), t.isDead)
	t.listed.Store(&[]*incoming{})
	var random [16]byte
	rand.Read(random[:])
	t.name = "weft-" + hex.EncodeToString(random[:])
	t.listener, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: "@" + t.name, Net: "unixpacket"})
	if err != nil {
		sys.Unmap(mem)
		sys.CloseFD(fd)
		return nil, fmt.Errorf("weft: shm: %w", err)
	}
	t.door.Limit = handshake.Room(cfg.Size)
	t.door.Handshake = t.enter
	t.wg.Go(func() { t.door.Serve(t.listener.Accept) })
	if cfg.Liveness > 0 {
		t.wg.Add(1)
		go t.beat()
	}
	return t, nil
}

// Caps says what shared memory can do.
func (t *Transport) Caps() transport.Caps {
	return transport.Caps{Name: "shm", MTU: ring.MaxPacket, Reliable: true, Direct: true, Guards: "other users"}
}

// Card is the name of the socket at which this process is found.
func (t *Transport) Card() string { return t.name }

// Doorbell is this process's doorbell, which peers ring.
func (t *Transport) Doorbell() transport.Doorbell { return t.bell }

// MemoryBytes returns how much of the segment is in use.
func (t *Transport) MemoryBytes() uint64 { return sys.Resident(t.fd) }

// Arm does nothing: peers look at the doorbell themselves.
func (t *Transport) Arm() {}

// errGone is the cause when a connection ends.
var errGone = errors.New("its process has ended")

// errForgotten is the cause when a peer says that this process counts as dead.
var errForgotten = errors.New("it has taken this process for dead, which was silent for too long")

// Dial connects to a peer in both directions.
func (t *Transport) Dial(rank int, card string) error {
	if !strings.HasPrefix(card, "weft-") || len(card) > 64 {
		return fmt.Errorf("weft: shm: %q is no card", card)
	}
	t.mu.Lock()
	known := t.peers[rank] != nil
	t.mu.Unlock()
	if known {
		return nil
	}
	return handshake.Retry(t.done, func() (cut bool, err error) { return t.call(rank, card) })
}

// call dials a peer once. It reports whether the connection ended in the handshake.
func (t *Transport) call(rank int, card string) (cut bool, err error) {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: "@" + card, Net: "unixpacket"})
	if err != nil {
		return false, fmt.Errorf("weft: shm: %w", err)
	}
	seg, pid, err := t.greet(c, rank)
	if err != nil {
		c.Close()
		return handshake.WasCut(err), err
	}
	t.mu.Lock()
	p := t.add(rank, seg, pid, c)
	t.mu.Unlock()
	if p != nil {
		t.wg.Add(1)
		go t.attend(p, c)
	}
	return false, nil
}

// enter handles a peer that has dialled.
func (t *Transport) enter(v *handshake.Attempt) error {
	c := v.Conn.(*net.UnixConn)
	said, seg, pid, err := t.welcome(v)
	if err != nil {
		return err
	}
	rank := int(said.Pair().Dialler)
	if err := v.Admit(); err != nil {
		sys.Unmap(seg.mem)
		return err
	}
	t.mu.Lock()
	p := t.add(rank, seg, pid, c)
	if p != nil {
		// Before mu is released, so that no record of another goroutine goes ahead. It does not wait: the
		// dialler has read all that went before. attend notices if it fails.
		_ = sys.SendFD(c, said.Last(handshake.Accepted), t.fd)
	}
	t.mu.Unlock()
	if p == nil {
		return net.ErrClosed
	}
	if t.cfg.Events.Up != nil {
		t.cfg.Events.Up(rank)
	}
	t.wg.Add(1)
	go t.attend(p, c)
	return nil
}

// add adds a peer, or a further connection to a peer that is known already: both sides
// may have dialled. It returns nil when the transport is closed. t.mu is held.
func (t *Transport) add(rank int, seg segment, pid int, c *net.UnixConn) *peer {
	if t.closed {
		c.Close()
		return nil
	}
	p := t.peers[rank]
	if p == nil {
		p = &peer{
			t: t, rank: rank, pid: pid, seg: seg, bell: doorbell.NewFutex(seg.bell()), ring: -1,
			sender: ring.NewInboxProducer(seg.inbox(), t.cfg.Rank),
			mapped: map[view]*transport.Mapping{}, after: t.promoteAfter(rank),
		}
		t.peers[rank] = p
		t.out.Add(rank, p)
	} else {
		sys.Unmap(seg.mem)
	}
	p.conns = append(p.conns, c)
	return p
}

// isDead reports whether a rank will never fill a cell that it has claimed.
func (t *Transport) isDead(rank int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.peers[rank]
	return p != nil && p.down.Load()
}

// Close ends the connections and takes the segment away. Packets that have not
// been polled are lost.
func (t *Transport) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	close(t.done)
	t.listener.Close()
	for _, p := range t.peers {
		for _, c := range p.conns {
			c.Close()
		}
	}
	t.mu.Unlock()
	t.wg.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		sys.Unmap(p.seg.mem)
		for _, m := range p.mapped {
			retire(m)
		}
		clear(p.mapped)
	}
	for id, a := range t.shared {
		t.release(id, a)
		keeping.Lock()
		kept = append(kept, a.m)
		keeping.Unlock()
	}
	sys.Unmap(t.seg.mem)
	sys.CloseFD(t.fd)
	return nil
}
