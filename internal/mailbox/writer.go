package mailbox

import (
	"runtime"
	"sync/atomic"

	"weft/internal/mem"
)

// Packet is how many bytes a sender that maps the memory writes at a time where
// there is a record for each packet.
const Packet = 8192

// A Writer writes to a mailbox for one process that maps it. One goroutine at a time uses it: it
// holds the Writer's line, which is also how the owner sees that it is busy.
//
// The packets of a process are joined by their order alone. So while Push has written a
// message in part, it refuses other messages of the process, until the rest is written or
// sent over another path (Depart). Nor may later messages overtake one that was sent over
// another path, until that has arrived (Arrived).
type Writer struct {
	b    *Box
	rank int
	line *line
	seen uint32 // Head of the status ring, when last looked at
	ring int    // the ring last reserved from, and its Head when last looked at
	head uint64

	half atomic.Bool // a message has been written in part
	away int         // messages that were sent over another path, and have not arrived
}

// Join takes a free line for a sender, a process of this host. ok is false if there is none.
func (b *Box) Join(rank, pid int) (s *Writer, ok bool) {
	for i := range b.lines {
		l := &b.lines[i]
		if l.owner.Load() == 0 && l.owner.CompareAndSwap(0, uint64(rank)+1) {
			l.busy.Store(0)
			l.pid.Store(uint64(pid))
			return &Writer{b: b, rank: rank, line: l, ring: NoRing}, true
		}
	}
	return nil, false
}

// Owner returns the Writer of the owner's engine, which writes for all senders that do not
// map the memory. Its arrivals name their sender.
func (b *Box) Owner() *Writer { return &Writer{b: b, rank: -1, ring: NoRing} }

// Leave gives the line back.
func (w *Writer) Leave() { w.line.owner.Store(0) }

// Lock marks the line as busy, and Unlock ends that. Push does both. A caller that writes a
// message step by step holds the lock all the time.
func (w *Writer) Lock() {
	for !w.line.busy.CompareAndSwap(0, 1) {
		runtime.Gosched()
	}
	mem.Acquired(w)
}

// Unlock ends Lock.
func (w *Writer) Unlock() {
	mem.Released(w)
	mem.Publish(&w.line.busy, 0)
}

// Push writes a message, or what it can of it: sent bytes of one that has a record
// for each packet may have been written when the rest finds the ring Full. Push goes on
// from where it came to then. Full is also what others get meanwhile. When it is Done, ticket is that
// of the message's last record.
func (w *Writer) Push(
	entry int, mode Mode, tag uint64, data []byte, from int,
) (sent int, ticket uint32, o Outcome) {
	w.Lock()
	if w.away > 0 || from == 0 && w.half.Load() {
		w.Unlock()
		return from, 0, Full
	}
	if from > 0 {
		mode = PerPacket
	}
	if len(data) <= Inline && entry == NoRing {
		ticket, o = w.short(tag, data)
	} else {
		sent, ticket, o = w.long(entry, mode, tag, data, from)
	}
	if half := o == Full && sent > 0; half || from > 0 {
		w.half.Store(half)
	}
	w.Unlock()
	if o == Done {
		w.own(ticket, len(data))
	}
	return sent, ticket, o
}

// own asks for what the next message will need, if it is as long as the last one. Of the records it is the one behind
// the next, at which the owner does not look yet.
func (w *Writer) own(ticket uint32, n int) {
	mem.Own(mem.Bytes(w.b.slot(ticket + 2).rest[:])[:1])
	if n <= Inline || w.ring == NoRing {
		return
	}
	tail := w.b.amt[w.ring].tail.Load() &^ closed
	if next, _, ok := w.b.parts(w.ring, tail, 0, n); ok {
		mem.Own(next)
	}
}

// Depart says that a message, or what is left of it from a byte on, leaves by another
// way now. It fails while another message has been written in part.
func (w *Writer) Depart(from int) (ok bool) {
	w.Lock()
	defer w.Unlock()
	if from == 0 && w.half.Load() {
		return false
	}
	if from > 0 {
		w.half.Store(false)
	}
	w.away++
	return true
}

// Arrived says that n messages that had left have arrived, or never will.
func (w *Writer) Arrived(n int) {
	w.Lock()
	w.away -= n
	w.Unlock()
}

// short writes a message into its record.
func (w *Writer) short(tag uint64, data []byte) (ticket uint32, o Outcome) {
	ring := w.b.RingOf(w.rank)
	if ring == NoRing || w.b.amt[ring].size.Load() == 0 && w.b.RingOf(w.rank) == ring {
		return 0, NoEntry
	}
	ticket, ok := w.b.ticketNow(&w.seen)
	if !ok {
		return 0, Full
	}
	r := Record{From: w.rank, Tag: tag, Extent: Extent{Ring: ring, Len: len(data)}, Last: true}
	w.b.publish(ticket, &r, flagInline, data)
	return ticket, Done
}

// long writes a message through a ring.
func (w *Writer) long(
	entry int, mode Mode, tag uint64, data []byte, from int,
) (sent int, ticket uint32, o Outcome) {
	a := Arrival{Tag: tag, Total: len(data)}
	if o = w.Begin(&a, entry, mode); o != Done {
		return from, 0, o
	}
	if a.Got = from; !a.packets {
		o = w.Add(&a, data)
		return 0, a.Ticket, o
	}
	for {
		n := min(len(data)-a.Got, Packet)
		if o = w.Add(&a, data[a.Got:a.Got+n]); o != Done || a.Got == len(data) {
			return a.Got, a.Ticket, o
		}
	}
}

// HasRoom reports whether the rest of a message would find room now, or the first
// packet of it.
func (w *Writer) HasRoom(entry int, mode Mode, data []byte, from int) bool {
	if from == 0 && w.half.Load() {
		return false
	}
	a := Arrival{From: w.rank, Total: len(data)}
	if from > 0 {
		mode = PerPacket
	}
	return w.b.HasRoom(&a, entry, mode, min(len(data)-from, Packet))
}
