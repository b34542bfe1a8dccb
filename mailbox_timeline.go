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
	if size < timeline.LeastNoted {
		return timeline.Moment
	}
	return s.p.timeline.Mark()
}

// notePush records a message that this process has written into the mapped mailbox. The caller has
// checked that there is a timeline.
func (s *Sender) notePush(began int64, ticket uint32, size int) {
	s.p.timeline.Note(began, timeline.IPush, timeline.MailID(s.rank, s.found.Region, ticket), s.rank, size, nil)
}

// mailID returns the number of the message that a record completes, or 0.
func (m *Mailbox) mailID(rec *mailbox.Record) uint64 {
	if !rec.Last {
		return 0
	}
	return timeline.MailID(m.p.job.Rank, m.region.ID, rec.Ticket)
}
