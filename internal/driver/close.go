package driver

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/engine/msg"
	"weft/internal/interleave"
	"weft/internal/monotime"
)

// A node ends in steps, so that any goroutine may go on using it meanwhile, and
// afterwards. Return and Quit refuse new operations. Close ends operations that are under way, and stops: from
// then on no goroutine looks at the transports, whose memory may go away. A goroutine that
// looks at them holds the node's lock and has seen that the node is not closed (progress,
// flush, doze), or it sleeps on the doorbell, and Close waits for it.
//
// A goroutine that accesses mapped memory takes no lock: it asks Peer.Gone, which Quit sets. It
// may have asked just before. So the addresses of such memory always stay valid, and only the
// memory behind them is taken away; see sys.Vacate.

// lifecycle is how far a node has ended.
//
//	state     fields                        operations                         transports
//	open      none                          begin                              are used
//	returned  closing                       fail with ErrClosed if they begin  are used, for the sake of peers
//	leaving   closing, leaving              the same                           are used
//	closed    closing, leaving and closed   fail with ErrClosed                are not looked at any more
//
//	from            event                to
//	open            Return               returned
//	open, returned  Quit, Close, Crash   leaving
//	leaving         Close, Crash         closed
type lifecycle struct {
	closing atomic.Bool
	leaving atomic.Bool
	closed  bool
}

// errClosed is what Peer.Gone returns when the node is closing.
var errClosed error = failure.ErrClosed

// Quit makes every operation that is begun from now on fail with ErrClosed, except for
// what a process does to leave: flush and close ports, withdraw regions, give
// blocks back. Operations that are under way go on. All peers are asked to accept what was sent to them.
func (n *Node) Quit() {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life.leaving.Store(true)
	n.refuse()
	if !n.life.closed {
		n.eng.Msg.Drain()
		n.flush(n.clock())
	}
}

// refuse makes operations fail that are begun from now on. The lock is held.
func (n *Node) refuse() {
	n.life.closing.Store(true)
	for _, p := range n.peers.byRank {
		p.gone.Store(&errClosed)
		p.left.Store(&errClosed)
	}
	n.announce()
}

// Closing reports whether Return or Quit has been called. Any goroutine may call it.
func (n *Node) Closing() bool { return n.life.closing.Load() }

// Leaving reports whether Quit has been called. Any goroutine may call it.
func (n *Node) Leaving() bool { return n.life.leaving.Load() }

// Drain waits until the receiving ports have accepted all that was sent, or until none of them
// has accepted anything for as long as patience says, or for so long after ctx has ended. It returns what has not been
// accepted. Meanwhile this process goes on accepting what others send. It follows Return or Quit: nothing more is sent.
func (n *Node) Drain(ctx context.Context, patience time.Duration) []msg.Backlog {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return nil
	}
	end := n.now().Add(patience)
	least := math.MaxInt
	for round := 0; ; round++ {
		left := n.eng.Msg.Backlog()
		count := 0
		for _, b := range left {
			if !b.Left {
				count += b.Messages
			}
		}
		now := n.now()
		if count < least && !cancelled(ctx) {
			least = count
			end = now.Add(patience)
		}
		if count == 0 || now >= end || n.life.closed {
			return left
		}
		n.standBy(round, end)
		n.progress()
	}
}

// standBy lets other goroutines run, on a host at most until end. After some rounds it sleeps, each time longer: the
// peers that are waited for may need the processor. The lock is held, and given up meanwhile.
func (n *Node) standBy(round int, end monotime.Time) {
	n.mu.Unlock()
	switch {
	case n.cfg.Host != nil:
		n.cfg.Host.Sleep(min(end, n.now().Add(closeLook)), nil)
	case round < lively:
		interleave.Gosched()
	default:
		t := interleave.NewTimer()
		t.Reset(shortNap << min(round-lively, longestNap))
		t.Wait(nil)
	}
	n.mu.Lock()
}

// A node that closes looks so often before it sleeps, at first for a shortNap and in the end for 6 ms.
const (
	lively     = 64
	shortNap   = 50 * time.Microsecond
	longestNap = 7 // doublings
)

// Close tells the peers that this process leaves, or why its program has failed, waits at most patience for what is
// still on its way, and stops the node. Operations that have not ended by then end
// with ErrClosed. The transports stay open.
func (n *Node) Close(patience time.Duration, failed string) {
	n.Quit()
	n.mu.Lock()
	if n.life.closed {
		n.mu.Unlock()
		return
	}
	n.eng.Leave(failed)
	end := n.now().Add(patience)
	n.progress()
	for round := 0; !n.eng.Idle() && n.now() < end; round++ {
		n.standBy(round, end)
		n.progress()
	}
	n.stop()
}

// Crash stops the node without a word to its peers, for tests.
func (n *Node) Crash() {
	n.mu.Lock()
	if n.life.closed {
		n.mu.Unlock()
		return
	}
	n.life.leaving.Store(true)
	n.refuse()
	n.stop()
}

// stop ends the operations that have not ended, and the node. The lock is held, and
// given up.
func (n *Node) stop() {
	for _, rank := range slices.Sorted(maps.Keys(n.peers.byRank)) { // on a host, nothing is left to chance
		n.eng.Down(rank, failure.ErrClosed, false)
	}
	n.markGone()
	n.complete()
	n.life.closed = true // what the engine still has is never looked at again
	if n.cfg.Host != nil {
		n.mu.Unlock()
		return
	}
	for _, c := range n.waiting.calls {
		c.rouse(n)
	}
	n.ringAtEnd(context.Background())
	n.dismiss()
	n.mu.Unlock()
	interleave.Closed(n.service.done)
}

// dismiss returns when no goroutine sleeps on the doorbell, which lies in memory that will
// go away. The lock is held, and given up meanwhile.
func (n *Node) dismiss() {
	n.carry(n.duty.Close())
	for n.duty.Sleeper() != nil {
		n.mu.Unlock()
		interleave.Gosched()
		n.mu.Lock()
		n.bell.Ring()
	}
}
