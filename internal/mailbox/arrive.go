package mailbox

// An Outcome says what has become of bytes that were offered to a mailbox.
type Outcome uint8

// The outcomes.
const (
	Done     Outcome = iota
	Full             // no room now; nothing has been written
	NoEntry          // the sender has no ring, or there is no such ring
	TooLong          // the message is longer than its ring
	IsShared         // a record for the whole message was asked for, and the ring is shared
)

// A Mode says for what records are written.
type Mode uint8

// The modes. Senders that share a ring have their packets mixed there, so a record
// for each is needed to tell them apart. (PROTOCOL §10.2)
const (
	Auto       Mode = iota // for messages in a ring of one's own, for packets in a shared one
	PerMessage             // for messages; refused if the ring is shared
	PerPacket
)

// An Arrival is one message that is being written to a mailbox.
type Arrival struct {
	From    int
	Tag     uint64
	Total   int
	Got     int
	Ticket  uint32 // of its last record, when all of it is there
	ring    int
	named   bool // the sender has named the ring
	packets bool
	open    bool   // room for all of it is reserved, at pos
	pos     uint64 // of open
}

// Whole reports whether room for all of the message is reserved, and it is not complete.
func (a *Arrival) Whole() bool { return a.open }

// Ring returns the ring that the message goes to.
func (a *Arrival) Ring() int { return a.ring }

// Begin checks a message before its first byte, and reserves room for all of it
// unless there will be records for packets. Entry is the ring that the sender names,
// or NoRing to look it up (both of the paper's forms).
func (w *Writer) Begin(a *Arrival, entry int, mode Mode) Outcome {
	b := w.b
	if w.rank >= 0 {
		a.From = w.rank
	}
	ring, ok := b.ringOf(a.From, entry)
	if !ok {
		return NoEntry
	}
	_, size := b.Where(ring)
	if size == 0 && entry == NoRing && b.RingOf(a.From) != ring {
		return w.Begin(a, entry, mode) // it was given another just now
	}
	shared := entry != NoRing || b.Shared(ring) > 1
	switch {
	case size == 0:
		return NoEntry
	case a.Total > size:
		return TooLong
	case mode == PerMessage && shared && a.Total > Inline:
		return IsShared
	}
	a.ring = ring
	a.named = entry != NoRing
	a.Got = 0
	a.packets = shared || mode == PerPacket
	a.open = false
	if a.packets || a.Total <= Inline {
		return Done
	}
	o := w.hold(a.ring, a.Total, &a.pos)
	a.open = o == Done
	return o
}

// hold reserves n bytes and a record for them.
func (w *Writer) hold(ring, n int, pos *uint64) Outcome {
	if !w.b.promise(&w.seen) {
		return Full
	}
	at, ok := w.reserve(ring, n)
	if !ok {
		w.b.forgo()
		return Full
	}
	*pos = at
	return Done
}

// Add writes the next bytes of a message: all of it, or a packet. When it is Full
// nothing has happened.
func (w *Writer) Add(a *Arrival, data []byte) Outcome {
	b := w.b
	last := a.Got+len(data) == a.Total
	if a.open {
		if !b.write(a.ring, a.pos, a.Got, data) {
			return NoEntry
		}
		a.Got += len(data)
		if last {
			a.open = false
			a.Ticket = b.announce(a.record(a.pos, 0, a.Total, true))
		}
		return Done
	}
	if a.Total <= Inline && last && a.Got == 0 {
		t, ok := b.ticketNow(&w.seen)
		if !ok {
			return Full
		}
		a.Got = a.Total
		a.Ticket = t
		r := a.record(0, 0, a.Total, true)
		b.publish(t, &r, flagInline, data)
		return Done
	}
	if o := w.ringFor(a, len(data)); o != Done {
		return o
	}
	var pos uint64
	if o := w.hold(a.ring, len(data), &pos); o != Done {
		return o
	}
	if !b.write(a.ring, pos, 0, data) {
		return NoEntry
	}
	r := a.record(pos, a.Got, len(data), last)
	a.Got += len(data)
	a.Ticket = b.announce(r)
	return Done
}

// ringFor makes sure that the ring of a message can take a packet of n bytes. If it was
// taken away since the message began, the rest goes to the one that the sender has now.
func (w *Writer) ringFor(a *Arrival, n int) Outcome {
	_, size := w.b.Where(a.ring)
	if size == 0 && !a.named {
		if a.ring = w.b.RingOf(a.From); a.ring == NoRing {
			a.ring = 0
			return NoEntry
		}
		_, size = w.b.Where(a.ring)
	}
	switch {
	case size == 0:
		return NoEntry
	case n > size:
		return TooLong
	}
	return Done
}

// Abandon ends a message that will not be complete: what was reserved for it is
// given back in the order of arrival.
func (b *Box) Abandon(a *Arrival) {
	if a.open {
		a.open = false
		r := a.record(a.pos, 0, a.Total, true)
		b.publish(b.ticket(), &r, flagVoid, nil)
	}
}

// announce takes the promised ticket, and publishes.
func (b *Box) announce(r Record) (ticket uint32) {
	ticket = b.ticket()
	b.publish(ticket, &r, 0, nil)
	return ticket
}

func (a *Arrival) record(pos uint64, off, n int, last bool) Record {
	return Record{
		From: a.From, Tag: a.Tag, Extent: Extent{a.ring, pos, n},
		Off: off, Total: a.Total, Last: last, Packets: a.packets,
	}
}

// HasRoom reports whether what is left of a message, or its next packet of n bytes,
// would be taken now.
func (b *Box) HasRoom(a *Arrival, entry int, mode Mode, n int) bool {
	ring, ok := b.ringOf(a.From, entry)
	if !ok {
		return true // to be refused for good
	}
	if a.Total > Inline && entry == NoRing && mode != PerPacket && b.Shared(ring) <= 1 {
		n = a.Total
	}
	if _, size := b.Where(ring); n > size {
		return true
	}
	return b.free(ring, n, n == a.Total && n <= Inline)
}
