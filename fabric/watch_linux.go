package fabric

import "time"

// duty is what a goroutine of the transport does while no goroutine of the node looks: the watch. A provider works only
// while it is called, so the watch calls it while messages are under way. And where the provider has no descriptor to
// sleep on, the watch looks for packets while the doorbell is armed.
type duty struct {
	armed   bool // the next packet is to ring, and nothing else would
	awake   bool // the watch is
	looks   uint64
	seen    uint64
	pending int // looks of the watch until it may sleep
	brisk   int // looks of the watch that follow each other after a brief pause
}

// patience is how often the watch looks after the last packet was sent: for about a second.
const patience = 1000

// The watch looks often for a millisecond, and then once a millisecond. If it were slower, two ranks whose goroutines
// have slept once might sleep for every message: an answer would come after its receiver has stopped polling.
const brief = int(longest / shortest) // looks

// seldom is the pause of the watch while goroutines of the node look, which is as good. Where ranks have all
// processors, a look of the watch takes one of them from the rank that it serves.
const seldom = 4 * longest

// looked says that a goroutine of the node has looked.
func (d *duty) looked() { d.looks++ }

// sent says that packets were sent. The lock is held.
func (d *duty) sent(t *Transport) {
	if t.end.Manual || t.sending.busy() {
		d.pending = patience
		t.wake(false)
	}
}

// wake wakes the watch, unless it is awake and need not hurry. The lock is held.
func (t *Transport) wake(hurry bool) {
	if d := &t.duty; !d.awake || hurry {
		d.awake = true
		d.brisk = brief
		t.watching.Wake()
	}
}

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.taken()
	t.harvest(1)
	const tries = 3
	quiet := t.end.FD < 0
	for i := 0; i < tries && !quiet && t.in.arrived.n == 0; i++ {
		if quiet = t.end.Quiet(); !quiet {
			t.harvest(1)
		}
	}
	ring := t.in.arrived.n > 0 || !quiet
	if !ring && t.end.FD < 0 {
		t.duty.armed = true
		t.wake(true)
	}
	t.mu.Unlock()
	switch {
	case ring:
		t.cfg.Bell.Ring()
	case t.alarm != nil:
		t.alarm.Arm()
	}
}

// watch is the goroutine of the watch.
func (t *Transport) watch() {
	for pause := time.Duration(-1); ; {
		t.watching.Wait(pause)
		select {
		case <-t.done:
			return
		default:
		}
		if !t.mu.TryLock() { // its holder may be in the provider for long, and would wait for the watch afterwards
			pause = max(pause, longest)
			continue
		}
		var ring bool
		pause, ring = t.tend()
		t.mu.Unlock()
		if ring {
			t.cfg.Bell.Ring()
		}
	}
}

// tend looks once, unless the node has. It returns the pause until the watch looks again, negative if there is no need,
// and whether the watch must ring for a packet that has come. The lock is held.
func (t *Transport) tend() (pause time.Duration, ring bool) {
	d := &t.duty
	if t.closed {
		return -1, false
	}
	before := t.in.arrived.n
	served := d.looks != d.seen && !d.armed
	if !served {
		t.harvest(1)
	}
	d.seen = d.looks
	if ring = t.in.arrived.n > before || d.armed && t.in.arrived.n > 0; ring {
		d.armed = false
	}
	pause = longest
	if served {
		pause = seldom
	}
	d.pending = max(d.pending-int(pause/longest), 0)
	d.brisk = max(d.brisk-1, 0)
	d.awake = d.armed || d.pending > 0 || t.sending.busy()
	switch {
	case !d.awake:
		return -1, ring
	case d.brisk > 0 && !served:
		return shortest, ring
	default:
		return pause, ring
	}
}
