package driver

import (
	"runtime"
	"time"

	"weft/internal/monotime"
	"weft/transport"
)

// serve is the node's interrupt: the one goroutine that sleeps on the
// doorbell. It wakes for whoever is parked, for urgent packets when nobody
// waits, for timers, and for packets that found no room.
func (n *Node) serve() {
	defer close(n.served)
	n.mu.Lock()
	defer n.mu.Unlock()
	var seen uint64
	pause := tick
	for !n.closed {
		if n.reaper == nil {
			n.progress()
		}
		if n.reaper != nil || n.parked == 0 && n.reaped != seen {
			// Somebody polls, or has polled just now and may come back: arming
			// the doorbell would make every sender pay for a wake-up.
			seen = n.reaped
			n.watch(pause)
			pause = min(2*pause, maxTick)
			continue
		}
		pause = tick
		state := transport.Idle
		if n.parked > 0 {
			state = transport.Asleep
		}
		if n.arm(state) {
			continue // something came before the doorbell was armed
		}
		d := n.until(-1)
		n.mu.Unlock()
		runtime.Gosched() // those just woken run first, on this thread
		n.bell.Sleep(state, d)
		n.mu.Lock()
		n.sleepUntil = 0
	}
}

// watch waits until somebody parks, for timers, and at most d. The doorbell is
// quiet meanwhile. It must not hold a thread: the scheduler's monitor would
// take note of that each time, and disturb those who poll.
func (n *Node) watch(d time.Duration) {
	n.bell.Set(transport.Awake)
	n.watching = true
	n.timer.Reset(n.until(d))
	n.mu.Unlock()
	select {
	case <-n.nudge:
	case <-n.timer.C:
	}
	n.timer.Stop()
	n.mu.Lock()
	n.watching = false
	n.sleepUntil = 0
}

// alert wakes the service, wherever it sleeps. The lock is held.
func (n *Node) alert() {
	if !n.watching {
		n.bell.Ring()
		return
	}
	select {
	case n.nudge <- struct{}{}:
	default:
	}
}

// arm publishes the state, and reports whether there is something to do first.
// The lock is held.
func (n *Node) arm(state transport.State) bool {
	if n.bell.State() == state {
		return false
	}
	n.bell.Set(state)
	for _, t := range n.trs {
		t.Arm()
	}
	for _, t := range n.trs {
		if t.Caps().Reliable && t.Pending() {
			return true
		}
	}
	return false
}

// until returns how long the service may sleep, at most d (no limit if below
// zero), and remembers when it will wake. The lock is held.
func (n *Node) until(d time.Duration) time.Duration {
	now := n.now()
	at := n.eng.Deadline()
	if d >= 0 {
		at = at.Min(now.Add(d))
	}
	if n.retrying = n.eng.Blocked(); n.retrying {
		at = at.Min(now.Add(retry))
	}
	n.sleepUntil = at
	if at == monotime.Never {
		return -1
	}
	return max(at.Sub(now), 0)
}
