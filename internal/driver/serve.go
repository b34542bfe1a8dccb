package driver

import (
	"time"

	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// serve is the node's interrupt: it sleeps on the doorbell while no goroutine
// that waits does so itself. It wakes for urgent packets when nobody waits, for
// those who are parked on channels, for timers, and for packets that found no
// room.
func (n *Node) serve() {
	defer close(n.served)
	n.mu.Lock()
	defer n.mu.Unlock()
	var seen uint64
	pause := tick
	for !n.closed {
		if n.reaper == nil && n.sleeper == nil {
			n.progress()
			n.stream()
		}
		if n.sleeper == nil {
			n.answer()
		}
		n.update(n.now())
		switch active := n.reaped != seen; {
		case n.reaper != nil || !n.awaits() && active && !n.owing:
			// Somebody polls, or has polled just now and may come back: arming
			// the doorbell would make every sender pay for a wake-up.
			seen = n.reaped
			n.bell.Set(transport.Awake)
			n.lookAfter(pause)
			pause = min(2*pause, maxTick)
			continue
		case n.sleeper != nil:
			// It does our work. When it has woken for good, we go on.
			seen = n.reaped
			if pause = min(2*pause, maxTick); active {
				n.look(pause)
			} else {
				n.look(-1)
			}
			continue
		}
		pause, n.owing = tick, false
		state := transport.Idle
		if n.awaits() {
			state = transport.Asleep
		}
		if n.arm(state) {
			continue // something came before the doorbell was armed
		}
		d := n.until(-1)
		n.serveUntil, n.serving = n.sleepUntil, true
		n.mu.Unlock()
		interleave.Gosched() // those just woken run first, on this thread
		n.bell.Sleep(state, d)
		n.mu.Lock()
		n.serveUntil, n.serving = 0, false
		if n.sleeper == nil {
			n.sleepUntil = 0
		} else if !n.closed {
			n.bell.Ring() // we may have been woken in its place
		}
	}
}

// lookAfter waits until somebody parks, for timers, and at most d.
func (n *Node) lookAfter(d time.Duration) {
	switch {
	case n.timed:
		// The timers of lossy links start with every packet, and whoever reaps
		// looks after them. They can wait for a tick when he has just left.
		d = tick
		n.sleepUntil = n.now().Add(d)
	case n.sleeper == nil: // which else looks after the timers
		d = n.until(d)
	}
	n.look(d)
	if n.sleeper == nil {
		n.sleepUntil = 0
	}
}

// look waits until somebody parks, and at most d; a d below zero means no
// limit. It must not hold a thread: the scheduler's monitor would take note of
// that each time, and disturb those who poll.
func (n *Node) look(d time.Duration) {
	n.watching, n.lookAt = true, monotime.Never
	if d >= 0 {
		n.lookAt = n.now().Add(d)
		n.timer.Reset(d)
	}
	n.mu.Unlock()
	for tries := 0; ; tries++ {
		if n.timer.Wait(n.nudge) {
			tries = busy
		}
		if n.mu.TryLock() {
			break
		}
		if tries >= busy {
			n.mu.Lock()
			break
		}
		// Somebody reaps, and has no use for one more who wants the lock.
		n.timer.Reset(tick)
	}
	n.timer.Stop()
	n.watching = false
}

// busy is how often the service finds the lock taken before it insists.
const busy = 8

// alert wakes whoever is on duty. The lock is held.
func (n *Node) alert() {
	if n.sleeper != nil || !n.watching {
		n.ring()
	}
	if !n.watching {
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
	if n.retrying = n.eng.Blocked(); n.paused {
		at = now
	} else if n.retrying {
		at = at.Min(now.Add(retry))
	}
	n.sleepUntil = at
	if at == monotime.Never {
		return -1
	}
	return max(at.Sub(now), 0)
}

// awaits reports whether packets are waited for that need not be urgent: by goroutines
// that sleep, or because peers are to be told that the program has ended.
func (n *Node) awaits() bool { return n.parked > 0 || n.eng.Telling() }
