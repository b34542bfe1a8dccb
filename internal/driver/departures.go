package driver

import (
	"context"

	"weft/internal/engine"
	"weft/internal/engine/link"
)

// Return says that the program of this process has ended, and reports which peers are
// told by messages; see engine.Return.
func (n *Node) Return() (told []int) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closing.Load() {
		return nil
	}
	n.tape.Step("return", n.now(), 0)
	told = n.eng.Return()
	n.markGone()
	n.flush(n.clock())
	if n.cfg.Host == nil {
		n.alert() // the service waits for what peers have accepted
	}
	return told
}

// Returned says that the program of a peer has ended, which has sent us nothing that we
// have not accepted.
func (n *Node) Returned(rank int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.drain()
	n.tape.Step("returned", n.now(), rank)
	n.eng.Returned(rank)
	n.markGone()
	n.flush(n.clock())
}

// drain receives what has arrived, all of it: what a peer that is gone had sent before
// is received first. The lock is held.
func (n *Node) drain() {
	for range drains {
		if !n.progress() {
			return
		}
	}
}

// drains is how often drain looks at most: others may send all the time. Each look takes
// up to a thousand packets.
const drains = 1000

// markGone lets goroutines that do not take the lock see which peers are gone, and which
// have only returned.
func (n *Node) markGone() {
	all := n.eng.Departed()
	for _, rank := range all[n.downs:] {
		p := n.peer(rank)
		why := n.eng.Gone(rank)
		n.connected(p)
		if n.closing.Load() {
			continue // which peers show, and is not the peers' fault
		}
		var err error = why
		p.gone.Store(&err)
		if p.Transport != nil && !why.Clean {
			p.Transport.Forget(rank)
		}
	}
	n.downs = len(all)
	left := n.eng.Departures()
	seen := int(n.departed.Load())
	if len(left) == seen {
		return
	}
	for _, d := range left[seen:] {
		if p := n.peer(d.Rank); !n.closing.Load() {
			var err error = d.Why
			p.left.Store(&err)
		}
	}
	n.departed.Store(int32(len(left)))
	n.announce()
}

// announce wakes the goroutines that wait for departures. The lock is held.
func (n *Node) announce() {
	if n.news != nil {
		close(n.news)
		n.news = nil
	}
}

// Departures returns how many ranks have departed: they are gone, or their programs have
// returned. It takes no lock.
func (n *Node) Departures() int { return int(n.departed.Load()) }

// Departed returns the i-th rank that has departed, from 0, and why; or nil if so many
// have not.
func (n *Node) Departed(i int) (rank int, why *link.PeerError) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if all := n.eng.Departures(); i < len(all) {
		return all[i].Rank, all[i].Why
	}
	return 0, nil
}

// AwaitDeparture returns the i-th departure, from 0, waiting for it.
func (n *Node) AwaitDeparture(ctx context.Context, i int) (d engine.Departure, err error) {
	n.turn()
	for {
		n.mu.Lock()
		if n.closing.Load() {
			n.mu.Unlock()
			return d, link.ErrClosed
		}
		if all := n.eng.Departures(); i < len(all) {
			d = all[i]
			n.mu.Unlock()
			return d, nil
		}
		if n.news == nil {
			n.news = make(chan struct{})
		}
		news := n.news
		n.mu.Unlock()
		if n.cfg.Host != nil {
			if err := n.pollHosted(ctx, func() bool { return n.Departures() > i || n.closing.Load() }); err != nil {
				return d, err
			}
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
			return d, ctx.Err()
		}
	}
}
