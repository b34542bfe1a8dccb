package driver

import (
	"time"

	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// service is the goroutine that does a node's work when no other does: the node's interrupt.
//
//	state     fields    the goroutine
//	running   neither   has the lock: it receives, sends and decides what comes next
//	watching  watching  waits for a nudge or its timer, and has left the work to others
//	sleeping  sleeping  sleeps on the doorbell
//	ended     -         done is closed
//
//	from      event                                                to
//	running   a goroutine polls, or has polled since the last tick watching, for a tick
//	running   a goroutine sleeps on the doorbell                   watching, until alert
//	running   otherwise: it arms the doorbell                      sleeping
//	watching  alert, or the tick is over                           running
//	sleeping  a ring, or a timer is due                            running
//	any       the node is closed                                   ended
//
// The doorbell that it sleeps on is armed for every packet (Asleep) if packets are waited for,
// and else for urgent ones only (Idle). While the service watches, it is not armed (Awake).
type service struct {
	done     chan struct{} // closed when the goroutine has ended
	watching bool
	sleeping bool
	lookAt   monotime.Time     // when watching ends by itself
	wakeAt   monotime.Time     // when sleeping does; 0 if it does not sleep
	nudge    chan struct{}     // ends watching
	timer    *interleave.Timer // so does this

	armNow  bool   // arm the doorbell without waiting for a tick: a lock was kept here that others may want
	freedAt uint64 // waiting.reaps, when armNow was set last
}

// serve is the service's goroutine. It wakes for urgent packets when no goroutine waits, for
// the goroutines that are parked on channels, for timers, and for packets that found no room.
func (n *Node) serve() {
	defer close(n.service.done)
	n.mu.Lock()
	defer n.mu.Unlock()
	var seen uint64 // waiting.reaps when the service looked last
	pause := tick
	for {
		if n.servesAlone() {
			n.progress()
			n.stream()
		}
		if n.life.closed {
			return // Close rings once: from here on the lock is held until the doorbell has its state
		}
		if n.waiting.sleeper == nil {
			n.answer()
		}
		n.update(n.now())
		active := n.waiting.reaps != seen
		switch {
		case n.waiting.reaper != nil || n.mayComeBack() && active && !n.service.armNow:
			// A goroutine polls, or has polled just now and may come back: if the
			// doorbell were armed, every sender would pay for a wake-up.
			seen = n.waiting.reaps
			n.bell.Set(transport.Awake)
			if n.awaits() {
				pause = tick
			}
			n.lookAfter(pause)
			pause = min(2*pause, maxTick)
		case n.waiting.sleeper != nil:
			// The sleeper does the service's work. When it has woken for good, the
			// service goes on.
			seen = n.waiting.reaps
			pause = min(2*pause, maxTick)
			if active {
				n.look(pause)
			} else {
				n.look(-1)
			}
		default:
			pause = tick
			n.service.armNow = false
			n.waiting.streak = 0
			n.sleepAsService()
		}
	}
}

// mayComeBack reports whether the doorbell can stay unarmed after a goroutine has polled. The lock
// is held.
func (n *Node) mayComeBack() bool { return !n.awaits() || n.waiting.parked > 0 && n.lasts() }

// sleepAsService arms the doorbell and sleeps on it, unless something has come before it was
// armed. The lock is held, and given up meanwhile.
func (n *Node) sleepAsService() {
	state := transport.Idle
	if n.awaits() {
		state = transport.Asleep
	}
	if n.arm(state) {
		return
	}
	d := n.until(-1)
	n.service.wakeAt = n.waiting.wakeAt
	n.service.sleeping = true
	n.mu.Unlock()
	interleave.Gosched() // goroutines that were just woken run first, on this thread
	n.bell.Sleep(state, d)
	n.mu.Lock()
	n.service.wakeAt = 0
	n.service.sleeping = false
	if n.waiting.sleeper == nil {
		n.waiting.wakeAt = 0
	} else if !n.life.closed {
		n.bell.Ring() // the ring may have been meant for the sleeper
	}
}

// lookAfter waits until a goroutine parks, for timers, and at most d.
func (n *Node) lookAfter(d time.Duration) {
	switch {
	case n.transports.lossy:
		// The timers of lossy links start with every packet, and the reaper
		// looks after them. When it has just stopped polling they can wait for a tick.
		d = tick
		n.waiting.wakeAt = n.now().Add(d)
	case n.waiting.sleeper == nil: // which would look after the timers
		d = n.until(d)
	}
	n.look(d)
	if n.waiting.sleeper == nil {
		n.waiting.wakeAt = 0
	}
}

// look waits until a goroutine parks, and at most d; a d below zero means no
// limit. It must not hold a thread: the Go scheduler's monitor would take note of
// that each time, and disturb the goroutines that poll.
func (n *Node) look(d time.Duration) {
	n.service.watching = true
	n.service.lookAt = monotime.Never
	if d >= 0 {
		n.service.lookAt = n.now().Add(d)
		n.service.timer.Reset(d)
	}
	n.mu.Unlock()
	for tries := 0; ; tries++ {
		if n.service.timer.Wait(n.service.nudge) {
			tries = busy
		}
		if n.mu.TryLock() {
			break
		}
		if tries >= busy {
			n.mu.Lock()
			break
		}
		// A goroutine polls, and would only be held up by one more that wants the lock.
		n.service.timer.Reset(tick)
	}
	n.service.timer.Stop()
	n.service.watching = false
}

// busy is how often the service finds the lock taken before it waits for it.
const busy = 8

// alert wakes the goroutine on duty. The lock is held.
func (n *Node) alert() {
	if n.waiting.sleeper != nil || !n.service.watching {
		n.ring()
	}
	if !n.service.watching {
		return
	}
	select {
	case n.service.nudge <- struct{}{}:
	default:
	}
}

// arm publishes the doorbell's state, and reports whether there is something to do before
// sleeping. The lock is held.
func (n *Node) arm(state transport.State) bool {
	if n.bell.State() == state {
		return false
	}
	n.bell.Set(state)
	for _, t := range n.transports.all {
		t.Arm()
	}
	for _, t := range n.transports.all {
		if t.Caps().Reliable && t.Pending() {
			return true
		}
	}
	return false
}

// until returns how long the goroutine on duty may sleep, at most d (no limit if below
// zero), and remembers when it will wake. The lock is held.
func (n *Node) until(d time.Duration) time.Duration {
	now := n.now()
	at := n.eng.Deadline()
	if d >= 0 {
		at = at.Min(now.Add(d))
	}
	n.waiting.retrying = n.eng.Blocked()
	switch {
	case !n.waiting.retrying:
	case !n.sending.paused:
		at = at.Min(now.Add(retry))
	case n.waiting.reaper == nil:
		at = now
	default: // the reaper goes on sending; to look again and again would only take its processor
	}
	n.waiting.wakeAt = at
	if at == monotime.Never {
		return -1
	}
	return max(at.Sub(now), 0)
}

// awaits reports whether packets are waited for that need not be urgent: by goroutines
// that sleep, or because peers are to be told that the program has ended.
func (n *Node) awaits() bool { return n.waiting.parked > 0 || n.eng.Telling() }
