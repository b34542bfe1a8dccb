package driver

import (
	"context"
	"slices"
	"sync/atomic"

	"weft/failure"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
)

// departures is which deaths and departures the driver has shown to goroutines that do not
// take the lock.
type departures struct {
	gone  int           // deaths that peers show
	count atomic.Int32  // departures that peers show
	news  chan struct{} // closed at the next; nil if no goroutine waits
	all   bool          // the launcher has been asked to tell of every rank
}

// every stands for all ranks in Config.Await.
const every = -1

// await asks the launcher to tell when the programs of ranks have returned. The lock is held.
func (n *Node) await(ranks []int) {
	switch {
	case n.cfg.Await == nil:
	case n.cfg.Host != nil:
		for _, rank := range ranks {
			n.cfg.Await(rank)
		}
	default:
		ranks = slices.Clone(ranks)
		interleave.Go(func() {
			for _, rank := range ranks {
				n.cfg.Await(rank)
			}
		})
	}
}

// Return says that the program of this process has returned: operations that are begun from now on fail with ErrClosed.
// It reports which peers are told so by messages; see engine.Return.
func (n *Node) Return() (told []int) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return nil
	}
	told = n.eng.Return()
	n.markGone()
	n.refuse()
	n.flush(n.clock())
	if n.cfg.Host == nil {
		n.alert() // the service waits for what peers have accepted
	}
	return told
}

// Returned says that the program of a peer has returned, and that this process has accepted all
// that the peer has sent to it.
func (n *Node) Returned(rank int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	n.drain()
	n.eng.Returned(rank)
	n.markGone()
	n.flush(n.clock())
}

// drain receives all that has arrived: what a peer had sent before its end is received before
// its end is noted. The lock is held.
func (n *Node) drain() {
	for range drains {
		if !n.progress() {
			return
		}
	}
}

// drains is how often drain looks at most: other peers may send all the time. Each look takes
// up to a thousand packets.
const drains = 1000

// markGone shows which peers are gone, and which have only returned, to goroutines that do not
// take the lock. The lock is held.
func (n *Node) markGone() {
	all := n.eng.Departed()
	for _, rank := range all[n.departures.gone:] {
		p := n.peer(rank)
		why := n.eng.Gone(rank)
		if !n.life.closing.Load() { // otherwise peers show ErrClosed: the end is not theirs
			var err error = why
			p.gone.Store(&err)
		}
		n.connected(p) // a goroutine in Reach looks at gone now
		if p.Transport != nil && !why.Clean && !n.life.leaving.Load() {
			p.Transport.Forget(rank)
		}
	}
	n.departures.gone = len(all)
	if !n.eng.News() {
		return
	}
	left := n.eng.Departures()
	seen := int(n.departures.count.Load())
	for _, d := range left[seen:] {
		if p := n.peer(d.Rank); !n.life.closing.Load() {
			var err error = d.Why
			p.left.Store(&err)
		}
	}
	n.departures.count.Store(int32(len(left)))
	n.announce()
}

// announce wakes the goroutines that wait for departures. The lock is held.
func (n *Node) announce() {
	if n.departures.news != nil {
		close(n.departures.news)
		n.departures.news = nil
	}
}

// Departures returns how many ranks have departed: they are gone, or their programs have
// returned. It takes no lock.
func (n *Node) Departures() int { return int(n.departures.count.Load()) }

// Departed returns the i-th rank that has departed, from 0, and why; or a nil error if fewer
// have.
func (n *Node) Departed(i int) (rank int, why *failure.PeerError) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if all := n.eng.Departures(); i < len(all) {
		return all[i].Rank, all[i].Why
	}
	return 0, nil
}

// Deaths is a goroutine's place in the sequence of departures. With Port a departure has its place behind all messages
// of the rank on that channel: messages of a rank whose program has returned can still come, to a port that had no
// room for them or was not open.
type Deaths struct {
	Port *msg.Port // or nil
	seen int
	held []engine.Departure // of ranks of which messages still come
}

// next returns the next departure, if there is one. The lock is held.
func (d *Deaths) next(e *engine.Engine) (engine.Departure, bool) {
	silent := func(left engine.Departure) bool {
		return d.Port == nil || e.Msg.Silent(left.Rank, d.Port.Channel())
	}
	if i := slices.IndexFunc(d.held, silent); i >= 0 {
		left := d.held[i]
		d.held = slices.Delete(d.held, i, i+1)
		return left, true
	}
	for all := e.Departures(); d.seen < len(all); {
		left := all[d.seen]
		if d.seen++; silent(left) {
			return left, true
		}
		d.held = append(d.held, left)
	}
	return engine.Departure{}, false
}

// AwaitDeparture returns the next departure, waiting for it.
func (n *Node) AwaitDeparture(ctx context.Context, deaths *Deaths) (d engine.Departure, err error) {
	ctx = Endless(ctx)
	n.turn()
	for {
		n.mu.Lock()
		if !n.departures.all {
			n.departures.all = true
			n.await([]int{every})
		}
		if n.life.closing.Load() {
			n.mu.Unlock()
			return d, failure.ErrClosed
		}
		if next, ok := deaths.next(n.eng); ok {
			n.mu.Unlock()
			return next, nil
		}
		if n.departures.news == nil {
			n.departures.news = make(chan struct{})
		}
		news := n.departures.news
		n.mu.Unlock()
		if n.cfg.Host != nil {
			changed := func() bool { return n.departures.news != news || n.life.closing.Load() }
			if err := n.pollHosted(ctx, changed); err != nil {
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
