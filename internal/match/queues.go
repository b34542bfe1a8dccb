package match

const (
	// Any is the source that stands for every rank.
	Any = -1

	// Exact is the mask that compares all bits of the tag.
	Exact uint64 = 1<<64 - 1

	// AnyTag is the mask that compares no bit of the tag.
	AnyTag uint64 = 0
)

// Queues are the two queues of message matching: posted receives, of type R, which wait for
// messages, and unexpected messages, of type M, for which no receive has asked yet. Queues are a
// state machine without lock, goroutine or clock; one goroutine at a time may use them.
//
// Both queues are kept by source. A receive from one source searches only the messages of that
// source. A receive from Any searches all messages in the order of arrival, for which every message
// stands in a second list. A message searches the receives from its sender and those from Any, in
// the order in which they were posted. So a search compares the entries that a search of one queue
// for all sources would compare, without those of other sources.
//
// Sources are ranks from 0 on, below the number given to NewQueues; other sources panic.
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

// Grow makes room for sources up to a number, if there is less.
func (q *Queues[M, R]) Grow(sources int) {
	for len(q.sources) < sources {
		q.sources = append(q.sources, source[M, R]{})
	}
}

// A Ticket identifies a posted receive, for Cancel.
type Ticket[R any] struct {
	e     *entry[R]
	order uint64
}

// Match takes a message that has arrived. Of the posted receives that it matches, Match removes the oldest, and returns
// it. If there is none, the message is for Keep.
func (q *Queues[M, R]) Match(from int, tag uint64) (r R, ok bool) {
	if e := q.waiting(from, tag); e != nil {
		return q.withdraw(e), true
	}
	return r, false
}

// Look is Match for receives of several messages: it leaves the receive posted, until Cancel.
func (q *Queues[M, R]) Look(from int, tag uint64) (r R, ok bool) {
	if e := q.waiting(from, tag); e != nil {
		return e.value, true
	}
	return r, false
}

// waiting returns the oldest posted receive that a message matches, or nil.
func (q *Queues[M, R]) waiting(from int, tag uint64) *entry[R] {
	s := &q.sources[from]
	looked := 0
	for a, b := s.posted.head, q.anyone.head; a != nil || b != nil; { // merges both lists by order
		e := a
		if a == nil || b != nil && b.order < a.order {
			e, b = b, b.place[own].next
		} else {
			a = a.place[own].next
		}
		looked++
		if (e.tag^tag)&e.mask == 0 {
			q.stats.Posted.searched(looked)
			return e
		}
	}
	q.stats.Posted.searched(looked)
	return nil
}

// Keep keeps an unexpected message, behind all others.
func (q *Queues[M, R]) Keep(from int, tag uint64, m M) {
	e := q.entry(from, tag, m)
	q.sources[from].unexpected.push(e, own)
	q.arrived.push(e, common)
}

// Return keeps a message that has been taken and is not wanted after all, before all others.
func (q *Queues[M, R]) Return(from int, tag uint64, m M) {
	e := q.entry(from, tag, m)
	q.sources[from].unexpected.pushFront(e, own)
	q.arrived.pushFront(e, common)
}

func (q *Queues[M, R]) entry(from int, tag uint64, m M) *entry[M] {
	e := q.messages.get()
	e.value = m
	e.source = from
	e.tag = tag
	q.stats.Unexpected.grown()
	return e
}

// Take removes, of the unexpected messages from a source, or from Any, whose tags match under the
// mask, the one that arrived first, and returns it and its source.
func (q *Queues[M, R]) Take(source int, tag, mask uint64) (m M, from int, ok bool) {
	e := q.find(source, tag, mask)
	if e == nil {
		return m, 0, false
	}
	m = e.value
	from = e.source
	q.sources[e.source].unexpected.remove(e, own)
	q.arrived.remove(e, common)
	q.messages.put(e)
	q.stats.Unexpected.Len--
	return m, from, true
}

// Peek returns the message that Take would return, and leaves it.
func (q *Queues[M, R]) Peek(source int, tag, mask uint64) (m M, from int, ok bool) {
	if e := q.find(source, tag, mask); e != nil {
		return e.value, e.source, true
	}
	return m, 0, false
}

// find returns the entry of the message that Take would return, or nil.
func (q *Queues[M, R]) find(source int, tag, mask uint64) *entry[M] {
	e := q.arrived.head
	place := common
	if source != Any {
		e = q.sources[source].unexpected.head
		place = own
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

// Post is Take if there is such a message. Otherwise it posts the receive r, which waits for the
// message; the Ticket is for Cancel.
func (q *Queues[M, R]) Post(source int, tag, mask uint64, r R) (m M, from int, t Ticket[R], ok bool) {
	if m, from, ok = q.Take(source, tag, mask); ok {
		return m, from, t, true
	}
	q.order++
	e := q.receives.get()
	e.value = r
	e.source = source
	e.tag = tag
	e.mask = mask
	e.order = q.order
	q.postedList(source).push(e, own)
	q.stats.Posted.grown()
	return m, 0, Ticket[R]{e, e.order}, false
}

func (q *Queues[M, R]) postedList(source int) *list[R] {
	if source == Any {
		return &q.anyone
	}
	return &q.sources[source].posted
}

// Cancel removes a posted receive, and reports whether it did: it cannot when a message has gone to
// it.
func (q *Queues[M, R]) Cancel(t Ticket[R]) bool {
	if t.e == nil || t.e.order != t.order {
		return false
	}
	q.withdraw(t.e)
	return true
}

// Withdraw removes the oldest of the receives that were posted for just this source, or for Any,
// and returns it: it is for a source that sends no more.
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

// Unexpected returns how many unexpected messages there are.
func (q *Queues[M, R]) Unexpected() int { return q.stats.Unexpected.Len }

// Stats returns the counts so far.
func (q *Queues[M, R]) Stats() Stats { return q.stats }

// Idle reports whether both queues are empty.
func (q *Queues[M, R]) Idle() bool { return q.stats.Posted.Len == 0 && q.stats.Unexpected.Len == 0 }
