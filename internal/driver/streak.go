package driver

import (
	"time"

	"weft/internal/interleave"
	"weft/internal/monotime"
)

// A goroutine whose wait has ended while it polled arms the doorbell for the goroutines that are
// parked. If it soon polls again, as in a series of round trips, that was in vain. A doorbell on
// shared memory is a word, and to arm it costs little. Over a network it is a watch on sockets:
// the next packet then wakes a thread, which costs ten times as much as the packet does.
//
// So the node counts how often in a row a goroutine began to poll within a lull after the last one
// had stopped (not after its last look for packets: what that brought may have taken as long). From
// enough on, the doorbell stays unarmed between two waits, if the service looks within a tick whether
// anybody has polled since. If nobody has, it arms the doorbell, and the streak is over: a packet for
// a parked goroutine comes late by two ticks at most, and once in a streak. A goroutine that parks
// ends the streak, too: what it waits for must wake somebody.
//
// A lull is about what the wake-up of a thread takes: a packet for a parked goroutine that comes
// in one waits no longer than it would for that.
const (
	lull   = 100 * time.Microsecond
	enough = 8
)

// returned counts a goroutine that begins to poll, if it is one of a streak. The lock is held.
func (n *Node) returned() {
	if !n.transports.network || n.waiting.sleeper != nil {
		return
	}
	if n.now().Sub(n.waiting.stopped) > lull {
		n.waiting.streak = 0
	} else {
		n.waiting.streak++
	}
}

// lasts reports whether a streak lasts that is long enough. The lock is held.
func (n *Node) lasts() bool {
	return n.waiting.streak >= interleave.Brief(enough) && n.waiting.sleeper == nil
}

// leavesDoorbell reports whether a goroutine that has stopped polling may leave the doorbell as
// it is, since another one polls soon, or the service looks. The lock is held.
func (n *Node) leavesDoorbell() bool {
	if n.waiting.parked == 0 || !n.transports.network {
		return false
	}
	n.waiting.stopped = n.now()
	if !n.lasts() || n.service.armNow || n.life.closed {
		return false
	}
	if !n.watches() {
		n.alert() // it sleeps on the doorbell, or has left its work to a sleeper that is gone
	}
	return n.watches()
}

// watches reports whether the service looks by itself whether a goroutine has polled. The lock is held.
func (n *Node) watches() bool { return n.service.watching && n.service.lookAt != monotime.Never }

// restAfterPolling is rest for a goroutine whose wait has ended while it polled, unless it is one of a streak.
// The lock is held.
func (n *Node) restAfterPolling() {
	if !n.leavesDoorbell() {
		n.rest()
	}
}
