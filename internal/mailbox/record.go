package mailbox

import "weft/internal/mem"

// Flags of a record.
const (
	flagLast    = 1 << iota // of its message
	flagInline              // the bytes are in the record
	flagPackets             // the message has a record for each packet
	flagVoid                // nothing has arrived: its sender has given up
)

// A Record says what has arrived: a message, or one packet of it.
type Record struct {
	From     int
	Tag      uint64
	Ticket   uint32 // its number among all records of the mailbox
	Extent          // where it lies, if Data is nil; Len is its length
	Off      int    // of the packet in its message
	Total    int    // bytes of the message
	Last     bool   // the message is complete
	Packets  bool   // there is a record for each packet
	InRecord bool   // the bytes travel in Data
	Data     []byte // in the record itself, until Done
	void     bool
}

// What the rest of a slot is, where it is not the bytes.
const (
	restPos = iota
	restOff
	restTotal
)

// publish fills the slot of a ticket. Its last store makes the record visible.
func (b *Box) publish(ticket uint32, r *Record, flags uint64, data []byte) {
	s := b.slot(ticket)
	mem.Publish(&s.from, uint64(uint32(r.From))|uint64(r.Len)<<32)
	mem.Publish(&s.tag, r.Tag)
	if flags&flagInline != 0 {
		copy(mem.Bytes(s.rest[:]), data)
	} else {
		mem.Publish(&s.rest[restPos], r.Pos)
		mem.Publish(&s.rest[restOff], uint64(r.Off))
		mem.Publish(&s.rest[restTotal], uint64(r.Total))
	}
	if r.Last {
		flags |= flagLast
	}
	if r.Packets {
		flags |= flagPackets
	}
	mem.Publish(&s.word, uint64(ticket+1)|uint64(r.Ring)<<32|flags<<48)
}

// published reports whether the slot of a ticket has been filled.
func (b *Box) published(ticket uint32) bool {
	return uint32(b.slot(ticket).word.Load()) == ticket+1
}

// record reads the slot of a ticket that has been published. It reports whether
// the record can be true: senders are not trusted.
func (b *Box) record(ticket uint32, r *Record) bool {
	s := b.slot(ticket)
	w := s.word.Load()
	from := s.from.Load()
	flags := w >> 48
	r.Ticket = ticket
	r.From = int(uint32(from))
	r.Len = int(from >> 32)
	r.Tag = s.tag.Load()
	r.Ring = int(uint16(w >> 32))
	r.Last = flags&flagLast != 0
	r.Packets = flags&flagPackets != 0
	r.InRecord = flags&flagInline != 0
	r.void = flags&flagVoid != 0
	if r.From >= b.Ranks || r.Ring >= b.Rings {
		return false
	}
	if r.InRecord {
		r.Off = 0
		r.Total = r.Len
		r.Data = mem.Bytes(s.rest[:])[:min(r.Len, Inline)]
		return r.Len <= Inline
	}
	r.Pos = s.rest[restPos].Load()
	off := s.rest[restOff].Load()
	total := s.rest[restTotal].Load()
	if total > uint64(b.Room) || off > total || uint64(r.Len) > total-off {
		return false
	}
	r.Off = int(off)
	r.Total = int(total)
	at := r.Pos - b.amt[r.Ring].head.Load()
	_, size := b.Where(r.Ring)
	return r.Pos%Grain == 0 && r.Len > 0 && at <= uint64(size) && grains(r.Len) <= uint64(size)-at
}
