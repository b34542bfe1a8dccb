package match

import "weft"

const (
	// Any stands for every rank where a source is named.
	Any = weft.Any

	// Exact is the mask that compares the whole tag, and AnyTag the one that
	// compares nothing of it.
	Exact  uint64 = 1<<64 - 1
	AnyTag uint64 = 0
)

// Queues are the two queues of message matching: receives of type R that wait for
// messages, and messages of type M that nothing has asked for yet. They are a
// state machine and nothing else: no lock, no goroutine, no clock. A Matcher is
// one with a mailbox below.
//
// Both queues are kept for each source apart. A receive from one source looks
// only at what this source has sent. A receive from Any goes through all messages
// in order of arrival, for which every message is in a second list. A message
// goes through the receives from its sender and those from Any, the older ones
// first. So a search compares what a search of one queue for all would, without
// the entries of other sources: it is never longer.
//
// Sources are ranks from 0 on, below the number given to NewQueues; others panic.
type Queues[M, R any] struct {
	sources []source[M, R]
	anyone  list[R] // receives from Any
	arrived list[M] // messages of all sources
	order   uint64  // receives posted so far

	stats    Stats
	messages pool[M]
	receives pool[R]
}

type source[M, R any] struct {
	unexpected list[M]
	posted     list[R]
}

// NewQueues returns empty queues for so many sources.
func NewQueues[M, R any](sources int) *Queues[M, R] {
	return &Queues[M, R]{sources: make([]source[M, R], sources)}
}

// A Ticket stands for a posted receive, to cancel it.
type Ticket[R any] struct {
	e     *entry[R]
	order uint64
}

// Arrive takes a message that has come. If a receive waits for it, that receive
// is taken from the queue and returned: of several the one posted first.
// Otherwise the message is kept until it is asked for.
func (q *Queues[M, R]) Arrive(from int, tag uint64, m M) (r R, ok bool) {
	s := &q.sources[from]
	looked := 0
	for a, b := s.posted.head, q.anyone.head; a != nil || b != nil; {
		e := a
		if a == nil || b != nil && b.order < a.order {
			e, b = b, b.place[own].next
		} else {
			a = a.place[own].next
		}
		looked++
		if (e.tag^tag)&e.mask == 0 {
			q.stats.Posted.searched(looked)
			return q.withdraw(e), true
		}
	}
	q.stats.Posted.searched(looked)
	e := q.messages.get()
	e.value, e.source, e.tag = m, from, tag
	s.unexpected.push(e, own)
	q.arrived.push(e, common)
	q.stats.Unexpected.grown()
	return r, false
}

// Take takes the message that has waited longest of those from a source, or Any,
// whose tag agrees in the bits of the mask.
func (q *Queues[M, R]) Take(source int, tag, mask uint64) (m M, ok bool) {
	e := q.find(source, tag, mask)
	if e == nil {
		return m, false
	}
	m = e.value
	q.sources[e.source].unexpected.remove(e, own)
	q.arrived.remove(e, common)
	q.messages.put(e)
	q.stats.Unexpected.Len--
	return m, true
}

// Peek returns the message that Take would, and leaves it.
func (q *Queues[M, R]) Peek(source int, tag, mask uint64) (m M, ok bool) {
	if e := q.find(source, tag, mask); e != nil {
		return e.value, true
	}
	return m, false
}

func (q *Queues[M, R]) find(source int, tag, mask uint64) *entry[M] {
	e, place := q.arrived.head, common
	if source != Any {
		e, place = q.sources[source].unexpected.head, own
	}
	looked := 0
	for ; e != nil; e = e.place[place].next {
		looked++
		if (e.tag^tag)&mask == 0 {
			break
		}
	}
	q.stats.Unexpected.searched(looked)
	return e
}

// Post is Take, or, if there is no such message, leaves the receive r to wait for
// it; the Ticket is for Cancel.
func (q *Queues[M, R]) Post(source int, tag, mask uint64, r R) (m M, t Ticket[R], ok bool) {
	if m, ok = q.Take(source, tag, mask); ok {
		return m, t, true
	}
	q.order++
	e := q.receives.get()
	e.value, e.source, e.tag, e.mask, e.order = r, source, tag, mask, q.order
	q.postedList(source).push(e, own)
	q.stats.Posted.grown()
	return m, Ticket[R]{e, e.order}, false
}

func (q *Queues[M, R]) postedList(source int) *list[R] {
	if source == Any {
		return &q.anyone
	}
	return &q.sources[source].posted
}

// Cancel takes a posted receive back, and reports whether it could: not if a
// message has gone to it.
func (q *Queues[M, R]) Cancel(t Ticket[R]) bool {
	if t.e == nil || t.e.order != t.order {
		return false
	}
	q.withdraw(t.e)
	return true
}

// Withdraw takes the oldest of the receives back that were posted for just this
// source, or for Any: for a source that sends no more.
func (q *Queues[M, R]) Withdraw(source int) (r R, ok bool) {
	if e := q.postedList(source).head; e != nil {
		return q.withdraw(e), true
	}
	return r, false
}

func (q *Queues[M, R]) withdraw(e *entry[R]) R {
	r := e.value
	q.postedList(e.source).remove(e, own)
	q.receives.put(e)
	q.stats.Posted.Len--
	return r
}

// Newest goes through the messages of a source, or Any, that nothing has asked for,
// the newest first, as long as f, which may change them, returns true.
func (q *Queues[M, R]) Newest(source int, f func(m *M) bool) {
	e, place := q.arrived.tail, common
	if source != Any {
		e, place = q.sources[source].unexpected.tail, own
	}
	for ; e != nil && f(&e.value); e = e.place[place].prev {
	}
}

// Sources returns how many sources there are.
func (q *Queues[M, R]) Sources() int { return len(q.sources) }

// Stats returns the counts so far.
func (q *Queues[M, R]) Stats() Stats { return q.stats }
