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
}

// patience is how often the watch looks after the last packet was sent: for about a second.
const patience = 1000

// looked says that a goroutine of the node has looked.
func (d *duty) looked() { d.looks++ }

// sent says that packets were sent. The lock is held.
func (d *duty) sent(t *Transport) {
	if t.end.Manual || t.sending.busy() {
		d.pending = patience
		t.wake()
	}
}

// wake wakes the watch. The lock is held.
func (t *Transport) wake() {
	if !t.duty.awake {
		t.duty.awake = true
		select {
		case t.watching <- struct{}{}:
		default:
		}
	}
}

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.harvest()
	const tries = 3
	quiet := t.end.FD < 0
	for i := 0; i < tries && !quiet && t.in.arrived.n == 0; i++ {
		if quiet = t.end.Quiet(); !quiet {
			t.harvest()
		}
	}
	ring := t.in.arrived.n > 0 || !quiet
	if !ring && t.end.FD < 0 {
		t.duty.armed = true
		t.wake()
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
	for {
		select {
		case <-t.done:
			return
		case <-t.watching:
		}
		for pause := shortest; ; pause = min(2*pause, longest) {
			time.Sleep(pause)
			more, ring := t.tend()
			if ring {
				t.cfg.Bell.Ring()
			}
			if !more {
				break
			}
		}
	}
}

// tend looks once, unless the node has. It reports whether the watch goes on, and whether it must ring for a packet
// that has come.
func (t *Transport) tend() (more, ring bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := &t.duty
	if t.closed {
		return false, false
	}
	before := t.in.arrived.n
	if d.looks == d.seen || d.armed {
		t.harvest()
	}
	d.seen = d.looks
	if ring = t.in.arrived.n > before || d.armed && t.in.arrived.n > 0; ring {
		d.armed = false
	}
	if d.pending--; d.pending < 0 {
		d.pending = 0
	}
	d.awake = d.armed || d.pending > 0 || t.sending.busy()
	return d.awake, ring
}
