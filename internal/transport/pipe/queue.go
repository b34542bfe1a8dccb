package pipe

import (
	"sync/atomic"

	"weft/internal/transport"
)

// slots is the capacity of a queue in packets.
const slots = 64

// A queue carries the packets of one rank to another. One goroutine at a time
// pushes, one at a time takes: their nodes' locks see to that.
type queue struct {
	from int
	to   *Transport

	head, tail atomic.Uint32 // taken and pushed so far
	bytes      atomic.Uint64 // held by the slots
	slot       [slots][]byte // each grows to the longest packet it has held
}

func (q *queue) len() uint32 { return q.tail.Load() - q.head.Load() }

// Push copies a packet into the queue and reports whether there was room.
func (q *queue) Push(header, payload []byte, urgent bool) bool {
	tail := q.tail.Load()
	if tail-q.head.Load() == slots {
		return false
	}
	s := &q.slot[tail%slots]
	was := cap(*s)
	*s = append(append((*s)[:0], header...), payload...)
	if grown := cap(*s) - was; grown > 0 {
		q.bytes.Add(uint64(grown))
	}
	q.tail.Store(tail + 1)
	q.to.bell.Wake(urgent)
	return true
}

// peek lends packets without taking them.
func (q *queue) peek(dst []transport.In) int {
	head := q.head.Load()
	n := min(int(q.tail.Load()-head), len(dst))
	for i := range n {
		dst[i] = transport.In{From: q.from, Data: q.slot[(head+uint32(i))%slots]}
	}
	return n
}
