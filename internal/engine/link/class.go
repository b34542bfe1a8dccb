package link

import (
	"weft/internal/engine/wire"
)

// A class says which frames a frame may go ahead of (PROTOCOL §1.1). Frames of one
// class keep their order. Frames of a lower class go ahead of those of a higher one,
// a packet at a time: also between the packets of a long frame.
type class uint8

const (
	// answers rest on nothing that the same process has sent: acknowledgements, answers
	// to requests, requests for the bytes of a long message.
	answers class = iota
	// ordered are messages, events and operations on memory: a message or an event
	// follows the effect of every operation that was begun before it.
	ordered
	// bulk is the bytes of long messages and the answers to long PULLs, which nothing
	// follows.
	bulk

	classes
)

// brief is the largest payload, in bytes, of a short frame, which takes a packet or two.
const brief = 1 << 10

// share is how many packets of short frames go ahead of a waiting class before that class sends a packet, so that a
// flood of short frames does not stop a long one. Two long frames of different classes take turns, packet by packet.
const share = 8

// classOf returns the class of a frame of a type, with a payload of so many bytes.
func classOf(t wire.Type, payload int) class {
	switch t {
	case wire.TypePiece:
		return bulk
	case wire.TypePulled:
		if payload > brief {
			return bulk
		}
		return answers
	case wire.TypeAck, wire.TypeNack, wire.TypeGo, wire.TypeFetch, wire.TypeFetched, wire.TypeSettled, wire.TypeRevoke,
		wire.TypeFenceAck, wire.TypeAttached, wire.TypeResult, wire.TypeIStop, wire.TypeIGo, wire.TypeBeat:
		return answers
	}
	return ordered
}

// pick returns the class whose first frame is next, or classes if none is. Without
// long, only short frames count.
func (q *Queue) pick(long bool) class {
	first := classes
	for c := classes; c > 0; {
		c--
		f := &q.waiting[c]
		if f.empty() || c == bulk && q.full || !long && f.first().long() || f.first().last && !q.oldest(f.first()) {
			continue
		}
		if q.passed[c] >= share {
			return c
		}
		first = c
	}
	return first
}

// oldest reports whether no other frame has waited longer.
func (q *Queue) oldest(it *item) bool {
	for c := range q.waiting {
		if f := &q.waiting[c]; !f.empty() && less(f.first().number, it.number) {
			return false
		}
	}
	return true
}

// pass counts a packet of a class for the classes behind it. (PROTOCOL §1.1)
func (q *Queue) pass(c class, long bool) {
	q.passed[c] = 0
	for c++; c < classes; c++ {
		switch {
		case q.waiting[c].empty():
			q.passed[c] = 0
		case long:
			q.passed[c] = share
		default:
			q.passed[c] = min(q.passed[c]+1, share)
		}
	}
}

// ahead reports whether a frame of a class may go ahead of all frames that wait.
func (q *Queue) ahead(c class) bool {
	for c++; c > 0; {
		c--
		if !q.waiting[c].empty() {
			return false
		}
	}
	return true
}
