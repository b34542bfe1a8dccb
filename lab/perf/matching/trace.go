package matching

import "weft/internal/match"

// An event is what happens to the queues of a rank: a receive is posted, or a
// message arrives.
type event struct {
	post      bool
	source    int
	tag, mask uint64
}

// A trace is what happens to the queues of one rank, in order.
type trace []event

func (t *trace) arrive(from int, tag uint64) { *t = append(*t, event{source: from, tag: tag}) }

func (t *trace) receive(source int, tag, mask uint64) {
	*t = append(*t, event{true, source, tag, mask})
}

// queues are what is compared. Messages and receives are numbers of events.
type queues interface {
	Arrive(from int, tag uint64, message int) (receive int, ok bool)
	Post(source int, tag, mask uint64, receive int) (message int, ok bool)
	Stats() match.Stats
}

// perSender is package match.
type perSender struct{ *match.Queues[int, int] }

func (q perSender) Arrive(from int, tag uint64, message int) (receive int, ok bool) {
	if receive, ok = q.Match(from, tag); !ok {
		q.Keep(from, tag, message)
	}
	return receive, ok
}

func (q perSender) Post(source int, tag, mask uint64, receive int) (message int, ok bool) {
	message, _, _, ok = q.Queues.Post(source, tag, mask, receive)
	return message, ok
}

// play plays a trace, and calls matched with each receive and its message, if it
// is not nil.
func (t trace) play(q queues, matched func(receive, message int)) {
	for i, e := range t {
		var other int
		var ok bool
		if e.post {
			other, ok = q.Post(e.source, e.tag, e.mask, i)
		} else {
			other, ok = q.Arrive(e.source, e.tag, i)
		}
		if ok && matched != nil {
			if e.post {
				matched(i, other)
			} else {
				matched(other, i)
			}
		}
	}
}

// messages returns how many messages arrive.
func (t trace) messages() (n int) {
	for _, e := range t {
		if !e.post {
			n++
		}
	}
	return n
}
