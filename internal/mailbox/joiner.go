package mailbox

// A Joiner joins packets of messages that arrive through a shared ring. Packets of one
// sender come in order; the first packet of a message ends one of that sender that was given
// up. The zero Joiner is ready to use. The caller holds a lock.
type Joiner struct {
	partial map[int]*partial // by sender
}

// A partial is a message of which more packets are to come.
type partial struct {
	buf   []byte
	total int // bytes of the message
	begun bool
}

// Add adds the packet of a record, whose bytes are first and then second. When the message
// is complete Add returns it, and it belongs to the caller; spare is memory in exchange for
// it, whose content is of no interest, and may be nil.
func (j *Joiner) Add(rec *Record, first, second []byte, spare func() []byte) (message []byte, ok bool) {
	p := j.partial[rec.From]
	if rec.Off == 0 {
		if p == nil {
			p = &partial{}
			if j.partial == nil {
				j.partial = map[int]*partial{}
			}
			j.partial[rec.From] = p
		}
		if p.buf == nil {
			p.buf = spare()
		}
		p.buf = p.buf[:0]
		p.total = rec.Total
		p.begun = true
	}
	if p == nil || !p.begun || len(p.buf) != rec.Off || p.total != rec.Total {
		return nil, false
	}
	p.buf = append(append(p.buf, first...), second...)
	if !rec.Last {
		return nil, false
	}
	message = p.buf
	p.buf = nil
	p.begun = false
	return message, true
}
