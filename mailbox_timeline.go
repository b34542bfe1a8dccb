package weft

import (
	"weft/internal/mailbox"
	"weft/internal/timeline"
)

// A message to a mailbox is known by the ticket of its last record. A sender that maps the mailbox
// takes the ticket itself. The answer to a message that went in packets brings it.

// markPush reads the clock of the timeline before a push of so many bytes, if it is worth it: a short
// message that finds room is a moment.
func (s *Sender) markPush(size int) int64 {
	if size < leastNoted {
		return 0
	}
	return s.p.mark()
}

// notePush records a message that this process has written into the mapped mailbox. The caller has
// checked that there is a timeline.
func (s *Sender) notePush(began int64, ticket uint32, size int) {
	s.p.noteMail(began, timeline.IPush, timeline.MailID(s.rank, s.found.Region, ticket), s.rank, size)
}

// mailID returns the number of the message that a record completes, or 0.
func (m *Mailbox) mailID(rec *mailbox.Record) uint64 {
	if !rec.Last {
		return 0
	}
	return timeline.MailID(m.p.job.Rank, m.region.ID, rec.Ticket)
}

// noteMail records a message that has been put into a mailbox, or taken out of it, without a call of
// the node. If began is 0 it is a moment. The caller has checked that there is a timeline.
func (p *Proc) noteMail(began int64, kind timeline.Kind, id uint64, peer, size int) {
	now := p.timeline.Now()
	if began == 0 {
		began = now
	}
	p.timeline.Share(timeline.Event{Begin: began, End: now, ID: id, Size: uint64(size), Peer: int32(peer), Kind: kind})
}
