package driver

import (
	"time"

	"weft/internal/driver/duty"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// service is the goroutine that does a node's work when no other does: the node's interrupt. Package duty has its
// states.
type service struct {
	done  chan struct{}     // closed when the goroutine has ended
	nudge chan struct{}     // ends its watch
	timer *interleave.Timer // so does this
}

// serve is the service's goroutine. It wakes for urgent packets when no goroutine waits, for
// the goroutines that are parked on channels, for timers, and for packets that found no room.
func (n *Node) serve() {
	defer close(n.service.done)
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if n.duty.Alone() {
			n.progress()
			n.stream()
		}
		// Close rings once: from Next on the lock is held until the doorbell has its state.
		a, d := n.duty.Next(n.eng.Telling())
		n.update(n.now())
		switch n.duty.Service() {
		case duty.Ended:
			return
		case duty.Dormant:
			n.sleepAsService(a)
		default:
			n.carry(a)
			n.watch(d)
		}
		n.carry(n.duty.Up())
	}
}

// sleepAsService arms the doorbell and sleeps on it, unless something has come before it was
// armed. The lock is held, and given up meanwhile.
func (n *Node) sleepAsService(a duty.Action) {
	state := transport.Idle
	if a == duty.Every {
		state = transport.Asleep
	}
	if n.arm(state) && n.arrived() {
		n.mu.Unlock()
		interleave.Gosched() // packets that come without end do not keep others from the lock
		n.mu.Lock()
		return
	}
	d := n.until(-1)
	n.mu.Unlock()
	interleave.Gosched() // goroutines that were just woken run first, on this thread
	n.bell.Sleep(state, d)
	n.mu.Lock()
}

// watch waits for a nudge, and at most d; a d below zero means no limit. It must not hold a
// thread: the Go scheduler's monitor would take note of that each time, and disturb the
// goroutines that poll. The lock is held, and given up meanwhile.
func (n *Node) watch(d time.Duration) {
	switch {
	case n.duty.Sleeper() != nil: // which looks after the timers
	case n.transports.lossy:
		// The timers of lossy links start with every packet, and the goroutine that polls
		// looks after them. When it has just stopped polling they can wait for a tick.
		d = duty.Tick
		n.duty.Until(n.now().Add(d))
	default:
		d = n.until(d)
	}
	if d >= 0 {
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
		n.service.timer.Reset(duty.Tick)
	}
	n.service.timer.Stop()
}

// busy is how often the service finds the lock taken before it waits for it.
const busy = 8

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
	case n.duty.Poller() == nil:
		at = now
	default: // the goroutine that polls goes on sending; to look again and again would only take its processor
	}
	n.duty.Until(at)
	if at == monotime.Never {
		return -1
	}
	return max(at.Sub(now), 0)
}
