package driver

import (
	"context"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
)

// ExposeMailbox makes a mailbox reachable under a name.
func (n *Node) ExposeMailbox(name string, box *mailbox.Box, bytes []byte, mem uint32, stall bool) (*rma.Region, error) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return nil, failure.ErrClosed
	}
	r, err := n.eng.RMA.ExposeMailbox(name, box, bytes, mem, stall)
	n.flush(n.clock())
	return r, err
}

// Room says that room has been given back in a mailbox of this process, or that its rings
// have changed; see engine.Room.
func (n *Node) Room(r *rma.Region) {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	n.eng.Room(n.clock(), r)
	n.flush(n.clock())
}

// Knock tells a peer that something was written to its mailbox.
func (n *Node) Knock(rank int, region uint32) {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	n.eng.RMA.Knock(rank, region)
	n.flush(n.clock())
}

// AwaitMail runs a call that waits for a mailbox. Seen is how many departures the caller has
// taken note of. If there have been more, AwaitMail returns at once: they happened before the
// wait and would not end it.
func (n *Node) AwaitMail(ctx context.Context, c *Call, seen int) error {
	n.enter()
	if len(n.eng.Departures()) > seen {
		n.mu.Unlock()
		return nil
	}
	n.begin(c)
	n.mu.Unlock()
	return n.Wait(ctx, c)
}

// Recover calls f with the messages to a mailbox that are being received, under the node's lock,
// so that no others can be. It returns f's result, or true if the node is closing.
func (n *Node) Recover(r *rma.Region, f func(open []*mailbox.Arrival) bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life.closing.Load() || f(n.eng.RMA.Open(r))
}
