package matching

import "weft/internal/match"

// one is matching with one queue for the messages and one for the receives of all
// sources: linked lists, as in match, that are searched from the oldest on.
type one struct {
	unexpected, posted queue
	free               *node
	stats              match.Stats
}

// A node is a message or a receive that waits.
type node struct {
	id, source int
	tag, mask  uint64
	next       *node
}

type queue struct {
	head *node
	tail **node
}

// newOne returns empty queues of the simplest kind: one list for all senders, searched from its head.
func newOne() *one {
	o := &one{}
	o.unexpected.tail = &o.unexpected.head
	o.posted.tail = &o.posted.head
	return o
}

// Arrive is that of match.Queues.
func (o *one) Arrive(from int, tag uint64, id int) (receive int, ok bool) {
	n := o.search(&o.posted, &o.stats.Posted, func(r *node) bool {
		return (r.source == match.Any || r.source == from) && (r.tag^tag)&r.mask == 0
	})
	if n == nil {
		o.push(&o.unexpected, &o.stats.Unexpected, node{id: id, source: from, tag: tag})
		return 0, false
	}
	return n.id, true
}

// Post is that of match.Queues.
func (o *one) Post(source int, tag, mask uint64, id int) (message int, ok bool) {
	n := o.search(&o.unexpected, &o.stats.Unexpected, func(m *node) bool {
		return (source == match.Any || source == m.source) && (m.tag^tag)&mask == 0
	})
	if n == nil {
		o.push(&o.posted, &o.stats.Posted, node{id: id, source: source, tag: tag, mask: mask})
		return 0, false
	}
	return n.id, true
}

// Stats is that of match.Queues.
func (o *one) Stats() match.Stats { return o.stats }

// search takes the oldest node that agrees from a queue.
func (o *one) search(q *queue, s *match.QueueStats, agree func(*node) bool) *node {
	looked := 0
	at := &q.head
	for *at != nil {
		looked++
		if agree(*at) {
			break
		}
		at = &(*at).next
	}
	s.Searches++
	s.SumLen += uint64(s.Len)
	s.Looked += uint64(looked)
	s.MaxLooked = max(s.MaxLooked, looked)
	n := *at
	if n == nil {
		return nil
	}
	if *at = n.next; n.next == nil {
		q.tail = at
	}
	s.Len--
	n.next = o.free
	o.free = n
	return n
}

// push appends an entry. Entries that have been taken out are used again, so that a search is timed and no
// allocation.
func (o *one) push(q *queue, s *match.QueueStats, v node) {
	n := o.free
	if n == nil {
		n = new(node)
	} else {
		o.free = n.next
	}
	*n = v
	*q.tail = n
	q.tail = &n.next
	s.Len++
	s.MaxLen = max(s.MaxLen, s.Len)
}
