package driver

import "weft/internal/interleave"

// stream goes on sending to a peer that makes room again and again, as one does that polls
// for the answer to its PULL: such a peer takes what fills a ring within microseconds, and
// the hundred microseconds of a retry after each would take most of the time. When no room
// has been made for a while, the peer is slow or stopped, and packets are offered to it
// after each retry only. The lock is held, and given up meanwhile.
func (n *Node) stream() {
	if !n.eng.Blocked() {
		return
	}
	sent := n.sending.packets
	end := n.now().Add(patience)
	for n.duty.Alone() && n.eng.Blocked() && n.now() < end {
		paused := n.sending.paused
		n.mu.Unlock()
		interleave.Yield() // the peer may wait for this very processor, or another thread of this process
		if paused {
			n.cede() // a goroutine that wants the lock
		}
		n.mu.Lock()
		if !n.duty.Alone() {
			return // another goroutine does it now
		}
		n.progress()
		if n.sending.packets != sent {
			sent = n.sending.packets
			end = n.now().Add(patience)
		}
	}
}
