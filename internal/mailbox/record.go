package mailbox

import "weft/internal/mem"

// Flags of a record.
const (
	flagLast    = 1 << iota // of its message
	flagInline              // the bytes are in the record
	flagPackets             // the message has a record for each packet
	flagVoid                // nothing has arrived: who wrote this has given up
)

// A Record says what has arrived: a message, or one packet of it.
type Record struct {
	From     int
	Tag      uint64
	Extent        // where it lies, if Data is nil; Len is its length
	Off      int  // of the packet in its message
	Total    int  // bytes of the message
	Last     bool // the message is complete
	Packets  bool // there is a record for each packet
	InRecord bool // the bytes travel in Data
	Data     [Inline]byte
	void     bool
}

// A slot begins with the word that publishes it: the ticket plus 1 in the lower half,
// then the ring and the flags. The rest is source and length, tag, and either the
// bytes, or position, offset and total.
const (
	atFrom  = 8
	atTag   = 16
	atData  = 24
	atPlace = 24
	atOff   = 32
	atTotal = 40
)

// publish fills the slot of a ticket. Its last store makes the record visible.
func (b *Box) publish(ticket uint32, r *Record, flags uint64, data []byte) {
	at := b.slot(ticket)
	s := b.mem[at : at+slotSize]
	mem.Publish64(s, atFrom, uint64(uint32(r.From))|uint64(r.Len)<<32)
	mem.Publish64(s, atTag, r.Tag)
	if flags&flagInline != 0 {
		copy(s[atData:], data)
	} else {
		mem.Publish64(s, atPlace, r.Pos)
		mem.Publish64(s, atOff, uint64(r.Off))
		mem.Publish64(s, atTotal, uint64(r.Total))
	}
	if r.Last {
		flags |= flagLast
	}
	if r.Packets {
		flags |= flagPackets
	}
	mem.Publish64(s, 0, uint64(ticket+1)|uint64(r.Ring)<<32|flags<<48)
}

// published reports whether the slot of a ticket has been filled.
func (b *Box) published(ticket uint32) bool {
	return uint32(b.load(b.slot(ticket))) == ticket+1
}

// record reads the slot of a ticket that has been published. It reports whether
// the record can be true: senders are not trusted.
func (b *Box) record(ticket uint32, r *Record) bool {
	at := b.slot(ticket)
	s := b.mem[at : at+slotSize]
	w := mem.Load64(s, 0)
	from := mem.Load64(s, atFrom)
	flags := w >> 48
	r.From, r.Len, r.Tag = int(uint32(from)), int(from>>32), mem.Load64(s, atTag)
	r.Ring = int(uint16(w >> 32))
	r.Last, r.Packets, r.InRecord, r.void = flags&flagLast != 0, flags&flagPackets != 0, flags&flagInline != 0, flags&flagVoid != 0
	if r.void || r.From >= b.Ranks || r.Ring >= b.Rings {
		return false
	}
	if r.InRecord {
		r.Off, r.Total = 0, r.Len
		copy(r.Data[:], s[atData:])
		return r.Len <= Inline
	}
	r.Pos = mem.Load64(s, atPlace)
	off, total := mem.Load64(s, atOff), mem.Load64(s, atTotal)
	if total > 1<<40 || off > total || uint64(r.Len) > total-off {
		return false
	}
	r.Off, r.Total = int(off), int(total)
	head := b.load(b.ring(r.Ring) + atHead)
	_, size := b.Where(r.Ring)
	return r.Pos%Grain == 0 && r.Len > 0 && r.Pos-head <= uint64(size) && grains(r.Len) <= uint64(size)-(r.Pos-head)
}
