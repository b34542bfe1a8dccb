package sim

// A queue holds events in the order of their times; events of equal times are in the order of their scheduling. It
// is a heap with four children to a node: half as deep as a binary one, and the four children share a cache line or
// two.
type queue struct {
	heap []event
	seq  uint64
}

// An event is due at a time. Events of the same time happen in the order in which they were pushed (seq), so that a
// run follows from its seed alone.
type event struct {
	at    Time
	seq   uint64
	actor Actor
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

func (q *queue) len() int { return len(q.heap) }

func (q *queue) first() Time { return q.heap[0].at }

// push adds an event. The queue is a heap in which each node has four children: half as deep as a binary heap, and
// the children of a node lie together in memory.
func (q *queue) push(at Time, a Actor) {
	q.seq++
	e := event{at, q.seq, a}
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// pop takes out the next event. The queue must not be empty.
func (q *queue) pop() (Time, Actor) {
	h := q.heap
	top := h[0]
	e := h[len(h)-1]
	h[len(h)-1].actor = nil
	h = h[:len(h)-1]
	q.heap = h
	for i := 0; len(h) > 0; {
		least := 4*i + 1
		if least >= len(h) {
			h[i] = e
			break
		}
		for c := least + 1; c < min(4*i+5, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			h[i] = e
			break
		}
		h[i] = h[least]
		i = least
	}
	return top.at, top.actor
}
