package faulty

import (
	"time"

	"weft/internal/transport"
)

// delayed are the packets that a long path holds, in the order in which they were sent, which is that in which they
// are due. They are sent on in batches, and their memory is used again, so that a long path takes hardly more of a
// processor than a short one.
type delayed struct {
	by   time.Duration
	ring func()

	packets []late // a ring; those from first on are on their way
	first   int
	count   int
	batch   []transport.Out
	timer   *time.Timer // rings at rung
	rung    time.Time
}

// A late is a packet with its own memory.
type late struct {
	out   transport.Out // its header and its payload lie in bytes
	bytes []byte
	due   time.Time
}

// add holds a packet.
func (d *delayed) add(o *transport.Out) {
	if d.count == len(d.packets) {
		d.grow()
	}
	p := &d.packets[(d.first+d.count)%len(d.packets)]
	n := len(o.Header)
	p.bytes = append(append(p.bytes[:0], o.Header...), o.Payload...)
	p.out = *o
	p.out.Header = p.bytes[:n]
	p.out.Payload = p.bytes[n:]
	now := time.Now()
	p.due = now.Add(d.by)
	d.count++
	d.await(now)
}

// grow makes room for more packets.
func (d *delayed) grow() {
	bigger := make([]late, max(2*len(d.packets), 64))
	n := copy(bigger, d.packets[d.first:])
	copy(bigger[n:], d.packets[:d.first])
	d.packets = bigger
	d.first = 0
}

// await makes the timer ring soon after the first packet is due, or before. If it rang at once it would ring for each
// packet.
func (d *delayed) await(now time.Time) {
	wait := d.packets[d.first].due.Sub(now) + d.by/16
	switch {
	case d.timer == nil:
		d.timer = time.AfterFunc(wait, d.ring)
	case now.Before(d.rung):
		return
	default:
		d.timer.Reset(wait)
	}
	d.rung = now.Add(wait)
}

// mostBatch is how many packets are sent at once.
const mostBatch = 64

// release sends the packets that are due. If the network has no room for some they are lost: that is allowed too.
func (d *delayed) release(t transport.Transport) {
	if d.count == 0 {
		return
	}
	now := time.Now()
	for d.count > 0 && !now.Before(d.packets[d.first].due) {
		d.batch = d.batch[:0]
		for d.count > 0 && len(d.batch) < mostBatch && !now.Before(d.packets[d.first].due) {
			d.batch = append(d.batch, d.packets[d.first].out)
			d.first = (d.first + 1) % len(d.packets)
			d.count--
		}
		t.Send(d.batch)
	}
	if d.count > 0 {
		d.await(now)
	}
}
