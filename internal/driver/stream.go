package driver

import "weft/internal/interleave"

// stream goes on sending while a peer that has no room makes some again and again, as
// one does that polls for the answer to its PULL: it takes what fills a ring within
// microseconds, and the hundred of a retry after each would take most of the time. When
// none has been made for a while, the peer is slow or stopped, and it is retried as
// ever. The lock is held, and given up meanwhile.
func (n *Node) stream() {
	if !n.eng.Blocked() {
		return
	}
	sent, end := n.sent, n.now().Add(patience)
	for !n.closed && n.reaper == nil && n.sleeper == nil && n.eng.Blocked() && n.now() < end {
		paused := n.paused
		n.mu.Unlock()
		if paused {
			interleave.Gosched() // a goroutine that wants the lock
		} else {
			interleave.Yield() // the peer may wait for this very processor
		}
		n.mu.Lock()
		if n.closed || n.reaper != nil || n.sleeper != nil {
			return // somebody else does it
		}
		if n.progress(); n.sent != sent {
			sent, end = n.sent, n.now().Add(patience)
		}
	}
}
