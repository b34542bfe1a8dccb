package inbox

import (
	"sync"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/transport"
)

// Ways are the ways of a process to the mailboxes of other ranks, and its own. Any goroutine may use them.
type Ways struct {
	host *Host

	mu     sync.Mutex
	closed bool
	ways   map[wayID]*Way
	sweep  int // at this many ways those to closed mailboxes are dropped
}

type wayID struct {
	rank   int
	region uint32
}

// NewWays returns the ways of a process that has none.
func NewWays(h *Host) *Ways { return &Ways{host: h, ways: map[wayID]*Way{}} }

// Attach returns a Sender to the mailbox that a peer's engine has found under a name, through mapped memory unless
// mapped is nil.
func (t *Ways) Attach(peer *driver.Peer, name string, found rma.Found, mapped *transport.Mapping) (Sender, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return Sender{}, failure.ErrClosed
	}
	id := wayID{peer.Rank, found.Region}
	w := t.ways[id]
	if w == nil {
		t.forget()
		w = newWay(t.host.Rank, mapped)
		t.ways[id] = w
	}
	return Sender{host: t.host, rank: peer.Rank, name: name, found: found, peer: peer, way: w, entry: wire.NoEntry}, nil
}

// forget drops the ways to mailboxes whose memory has been taken back. It does so when there
// are twice as many ways as were left the last time. t.mu is held.
func (t *Ways) forget() {
	const few = 16
	if len(t.ways) < max(t.sweep, few) {
		return
	}
	for id, w := range t.ways {
		if w.mapped != nil && w.mapped.Gone() {
			delete(t.ways, id)
		}
	}
	t.sweep = 2 * len(t.ways)
}

// Close gives the places of this process in the mailboxes back.
func (t *Ways) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, w := range t.ways {
		w.leave()
	}
}
