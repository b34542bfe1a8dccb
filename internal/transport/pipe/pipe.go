package pipe

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"weft/internal/transport"
)

// A Network is the ranks that can reach each other.
type Network struct {
	// MTU is the largest packet in bytes, 16 KiB if 0. Set it before Open.
	MTU int
	// Direct lets ranks map each other's memory. Set it before Open.
	Direct bool

	mu     sync.Mutex
	ranks  map[int]*Transport
	memory memory
}

// NewNetwork returns a network without ranks.
func NewNetwork() *Network {
	return &Network{ranks: map[int]*Transport{}, memory: memory{shared: map[place]*area{}}}
}

// Transport is one rank's end. It implements transport.Transport.
type Transport struct {
	transport.Steady

	net  *Network
	rank int
	caps transport.Caps
	view view // of the memory of all
	bell transport.Doorbell
	ev   transport.Events

	out  transport.PeerTable[queue] // to each peer
	in   atomic.Pointer[[]*queue]   // replaced, never changed
	lent []loan

	first int    // the place in in of the queue before the one with which the next Peek begins
	seen  *queue // whose packet Peek has lent
}

// loan is what the last Poll took from one queue.
type loan struct {
	q *queue
	n uint32
}

var errLeft = errors.New("it closed its end of the pipe")

// Open adds a rank. Peers ring bell when they send to it.
func (net *Network) Open(rank int, bell transport.Doorbell, ev transport.Events) (*Transport, error) {
	net.mu.Lock()
	defer net.mu.Unlock()
	if net.ranks[rank] != nil {
		return nil, fmt.Errorf("weft: pipe: rank %d is already open", rank)
	}
	mtu := net.MTU
	if mtu == 0 {
		mtu = 16 << 10
	}
	t := &Transport{
		net: net, rank: rank, view: view{rank, &net.memory}, bell: bell, ev: ev,
		caps: transport.Caps{Name: "pipe", MTU: mtu, Reliable: true, Direct: net.Direct},
	}
	t.in.Store(&[]*queue{})
	net.ranks[rank] = t
	return t, nil
}

// Caps says what a pipe can do.
func (t *Transport) Caps() transport.Caps { return t.caps }

// Card returns a constant: all ranks share the Network, so there is nothing to find out.
func (t *Transport) Card() string { return "pipe" }

// Dial connects both directions to a rank that has been opened.
func (t *Transport) Dial(peer int, card string) error {
	t.net.mu.Lock()
	other := t.net.ranks[peer]
	if other == nil {
		t.net.mu.Unlock()
		return fmt.Errorf("weft: pipe: rank %d: %w", peer, transport.ErrUnknownPeer)
	}
	t.net.join(t, other)
	t.net.join(other, t)
	t.net.mu.Unlock()
	if other != t && other.ev.Up != nil {
		other.ev.Up(t.rank)
	}
	return nil
}

// join makes the queue from one rank to another, unless there is one. The
// network is locked.
func (net *Network) join(from, to *Transport) {
	for _, q := range *to.in.Load() {
		if q.from == from.rank {
			return
		}
	}
	q := &queue{from: from.rank, to: to}
	in := append([]*queue{q}, *to.in.Load()...)
	from.out.Add(to.rank, q)
	to.in.Store(&in)
}

// PeerMTU returns the MTU: it is the same for all.
func (t *Transport) PeerMTU(peer int) int { return t.caps.MTU }

// Send copies packets into the queues of their peers.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := range pkts {
		p := &pkts[i]
		q := t.out.Sending(p.Peer)
		if q == nil || !q.Push(p.Header, p.Payload, p.Urgent) {
			return i
		}
	}
	return len(pkts)
}

// Lane returns the queue to a connected peer.
func (t *Transport) Lane(peer int) transport.Lane {
	if q := t.out.Get(peer); q != nil {
		return q
	}
	return nil
}

// Pending reports whether a packet has arrived.
func (t *Transport) Pending() bool {
	for _, q := range *t.in.Load() {
		if q.len() > 0 {
			return true
		}
	}
	return false
}

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	n := 0
	t.lent = t.lent[:0]
	for _, q := range *t.in.Load() {
		if k := q.peek(dst[n:]); k > 0 {
			t.lent = append(t.lent, loan{q, uint32(k)})
			n += k
		}
		if n == len(dst) {
			break
		}
	}
	return n
}

// Release ends the loan of the last Poll.
func (t *Transport) Release() {
	for _, l := range t.lent {
		l.q.head.Add(l.n)
	}
	t.lent = t.lent[:0]
}

// Peek lends the first packet of a peer.
func (t *Transport) Peek(peer int) (from int, pkt []byte, maybe bool) {
	all := *t.in.Load()
	at := t.first
	for range all {
		if at++; at >= len(all) {
			at = 0
		}
		if q := all[at]; (peer < 0 || q.from == peer) && q.len() > 0 {
			t.first = at
			t.seen = q
			return q.from, q.slot[q.head.Load()%slots], false
		}
	}
	return 0, nil, false
}

// Took takes the packet that Peek has lent.
func (t *Transport) Took() { t.seen.head.Add(1) }

// Forget does nothing: ranks of one process live and die together.
func (t *Transport) Forget(peer int) {}

// Arm does nothing: senders look at the doorbell themselves.
func (t *Transport) Arm() {}

// MemoryBytes returns what the queues to this rank hold.
func (t *Transport) MemoryBytes() uint64 {
	n := uint64(0)
	for _, q := range *t.in.Load() {
		n += q.bytes.Load()
	}
	return n
}

// Close takes the rank out of the network and tells the ranks that it was connected to.
func (t *Transport) Close() error {
	t.net.mu.Lock()
	delete(t.net.ranks, t.rank)
	var told []*Transport
	for _, q := range *t.in.Load() {
		if other := t.net.ranks[q.from]; other != nil && other != t {
			told = append(told, other)
		}
	}
	t.net.mu.Unlock()
	for _, other := range told {
		if other.ev.Down != nil {
			go other.ev.Down(t.rank, errLeft)
		}
	}
	return nil
}
