package link

import (
	"weft/internal/counters"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// A Queue holds the frames on their way to one peer. They are of three classes, so that a
// frame that need not follow a long one goes ahead of the rest of it. A frame longer than a
// packet stays one entry and is cut into packets as they are sent, so that a queue's
// memory does not grow with the length of what is sent.
//
// Payloads are borrowed: their owner must not change them before the frame has
// been sent (over a lossy link: acknowledged), or must Detach them.
type Queue struct {
	Rank  int
	Owner any // the engine's, untouched

	// Resume is called when operations that had to wait have entered the queue. Frames that must follow them may
	// enter then.
	Resume func()

	Counts *counters.Peer // of the peer
	Lossy  bool           // its frames go over a link
	Long   bool           // the delay of the link's path says how much must be on its way

	lane   Lane // nil: frames wait for Next
	room   int  // bytes of a packet on it
	active *Active
	link   list.Link[Queue] // in active

	waiting [classes]fifo
	count   int            // frames that wait
	number  uint32         // of the next one
	replies uint32         // frames that wait and answer the peer's operations on memory
	passed  [classes]uint8 // packets that have gone ahead of a class since it had a turn
	chosen  class          // of the packet that Next returned
	full    bool           // there is no room for bulk until Retry
	parked  bool           // there is no room for anything until Retry

	// Operations that have to wait before they enter the queue are numbered. Turn is the last number; all operations up
	// to entered have entered.
	turn, entered uint32
}

// A Lane is a reliable connection to one peer that takes single packets at once: a frame
// that is pushed to an empty queue need not wait there.
type Lane interface {
	// Push sends one packet, or reports that there is no room for it now.
	Push(header, payload []byte, urgent bool) bool
}

// Through makes frames that fit into room bytes go straight to a lane; nil
// ends that. It counts them.
func (q *Queue) Through(lane Lane, room int) {
	q.lane = lane
	q.room = room
}

// Active lists the queues that have frames to send, in the order in which they
// got them.
type Active struct {
	queues list.List[Queue]

	head [wire.MaxHead]byte // of the frame that is being made, for any of them

	counts counters.Peer // of queues that have been given no other
}

// NewQueue returns an empty queue to a peer. It puts itself on the list when
// frames are pushed.
func NewQueue(rank int, active *Active) *Queue {
	return &Queue{Rank: rank, Counts: &active.counts, active: active}
}

// Head returns room for the head of the next frame: append to it, then Push it, before
// another queue of the same Active is asked for room.
func (q *Queue) Head() []byte { return q.active.head[:0] }

// Push adds the frame whose head was appended to what Head returned. Urgent
// frames wake a peer that waits for nothing.
func (q *Queue) Push(head, payload []byte, urgent bool) {
	if !q.Direct(head, payload, urgent) {
		q.add(classOf(wire.Type(head[0]), len(payload)), head, payload, urgent)
	}
}

// PushLast adds a frame that follows everything that waits now, of whatever class.
func (q *Queue) PushLast(head, payload []byte, urgent bool) {
	if q.count > 0 || !q.Direct(head, payload, urgent) {
		q.add(bulk, head, payload, urgent).last = true
	}
}

// add puts a frame behind those of its class.
func (q *Queue) add(c class, head, payload []byte, urgent bool) *item {
	it := q.waiting[c].add()
	it.size = uint8(copy(it.head[:], head))
	it.urgent = urgent
	it.last = false
	it.number = q.number
	it.payload = payload
	it.sent = 0
	q.number++
	q.count++
	if it.replies() {
		q.replies++
	}
	q.active.Add(q)
	return it
}

// Direct sends a frame, whose head was appended to what Head returned, through
// the lane, and reports whether it could. It does not borrow the payload.
func (q *Queue) Direct(head, payload []byte, urgent bool) bool {
	size := len(head) + len(payload)
	if q.lane == nil || size > q.room || q.count > 0 && !q.ahead(classOf(wire.Type(head[0]), len(payload))) {
		return false
	}
	if !q.lane.Push(head, payload, urgent) {
		return false
	}
	sent := &q.Counts.Sent
	sent.Packets++
	sent.Bytes += uint64(size)
	return true
}

// Wait returns the number of an operation that must wait before its frame can enter the queue.
func (q *Queue) Wait() (number uint32) {
	q.turn++
	return q.turn
}

// Entered says that all operations up to a number have entered.
func (q *Queue) Entered(number uint32) {
	if q.entered != number {
		q.entered = number
		q.Resume()
	}
}

// Last returns the number of the last operation that had to wait, for Follows.
func (q *Queue) Last() uint32 { return q.turn }

// Follows reports whether a frame may enter that must not overtake the operations up to a number.
func (q *Queue) Follows(number uint32) bool { return int32(q.entered-number) >= 0 }

// Rest gives back the memory of frames that have been sent, if none waits.
func (q *Queue) Rest() {
	if q.count == 0 {
		q.waiting = [classes]fifo{}
	}
}

// Len returns the number of frames that wait.
func (q *Queue) Len() int { return q.count }

// Replies returns the number of answers to the peer's operations on memory that wait.
func (q *Queue) Replies() int { return int(q.replies) }

// Bulk reports whether the bytes of long messages, or answers to long PULLs, wait.
func (q *Queue) Bulk() bool { return !q.waiting[bulk].empty() }

// Next returns the next packet, of at most max bytes of head and payload; ok is false if there is none. The packet
// stays the next one until Sent. Unless long is set, Next returns only packets of short frames.
func (q *Queue) Next(max int, long bool) (head, payload []byte, urgent, ok bool) {
	if q.count == 0 {
		return nil, nil, false, false
	}
	if q.chosen = q.pick(long); q.chosen == classes {
		return nil, nil, false, false
	}
	it := q.waiting[q.chosen].first()
	head = it.head[:it.size]
	if it.sent == 0 && len(it.payload) <= max-len(head) {
		return head, it.payload, it.urgent, true
	}
	payload = it.cut(max - len(head))
	return head, payload, it.urgent, true
}

// Sent says that the n bytes of payload that Next returned have been sent.
func (q *Queue) Sent(n int) {
	f := &q.waiting[q.chosen]
	it := f.first()
	q.pass(q.chosen, it.long())
	it.sent += n
	if it.sent == len(it.payload) {
		q.left(it)
		f.remove()
	}
}

// Passable reports whether packets that are sent later may arrive before the packet that Next returned.
func (q *Queue) Passable() bool { return q.chosen == bulk && !q.waiting[bulk].first().last }

// Overtakes reports whether the packet that Next returned goes ahead of bulk, and is not itself about long messages:
// no request, announcement or answer of one.
func (q *Queue) Overtakes() bool {
	return q.chosen == ordered && q.Bulk() && wire.Type(q.waiting[ordered].first().head[0]) != wire.TypeRTS
}

// Refused says that there is no room for the packet that Next returned. If it is bulk and other frames wait, Refused
// reports true, and Next returns only those until Retry.
func (q *Queue) Refused() bool {
	q.full = q.chosen == bulk
	return q.full && q.count > q.waiting[bulk].count()
}

// Retry says that there may be room again. It puts the queue on its list.
func (q *Queue) Retry() {
	q.full = false
	q.parked = false
	q.active.Add(q)
}

// Drop forgets every frame of one type that carries one operation number
// (PROTOCOL §3, §4: bytes 4 to 7), because the operation was given up. It reports
// whether there was one.
func (q *Queue) Drop(t wire.Type, id uint32) (any bool) {
	q.filter(func(it *item) bool {
		same := wire.Type(it.head[0]) == t && wire.ID(it.head[:it.size]) == id
		any = any || same
		return same
	})
	return any
}

// Detach forgets every frame whose payload lies in the array of buf, because
// its owner takes the memory away. It returns the operation numbers of those
// frames.
func (q *Queue) Detach(buf []byte) (ids []uint32) {
	q.filter(func(it *item) bool {
		same := sameArray(it.payload, buf)
		if same {
			ids = append(ids, wire.ID(it.head[:it.size]))
		}
		return same
	})
	return ids
}

// filter removes the frames for which drop reports true.
func (q *Queue) filter(drop func(*item) bool) {
	for c := range q.waiting {
		q.waiting[c].filter(func(it *item) bool {
			if !drop(it) {
				return false
			}
			q.left(it)
			return true
		})
	}
}

// left counts a frame that has left the queue.
func (q *Queue) left(it *item) {
	q.count--
	if it.replies() {
		q.replies--
	}
}

// sameArray reports whether two slices end in the same array: slicing moves a
// slice's start and length, but not the end of its capacity.
func sameArray(a, b []byte) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:cap(a)][cap(a)-1] == &b[:cap(b)][cap(b)-1]
}

// Clear forgets every frame.
func (q *Queue) Clear() { q.filter(func(*item) bool { return true }) }

// First returns the queue that has waited longest, or nil.
func (a *Active) First() *Queue { return a.queues.First() }

// Rotate moves the first queue to the end, so that others get their turn.
func (a *Active) Rotate() {
	if q := a.queues.Pop(); q != nil {
		a.queues.Push(&q.link, q)
	}
}

// Empty reports whether no queue is on the list.
func (a *Active) Empty() bool { return a.queues.Empty() }

// Remove takes the first queue off the list until it is pushed to or Added.
func (a *Active) Remove() *Queue { return a.queues.Pop() }

// Park takes the first queue off the list until Retry.
func (a *Active) Park() *Queue {
	q := a.queues.Pop()
	q.parked = true
	return q
}

// Add puts a queue on the list if it is not there and not parked.
func (a *Active) Add(q *Queue) {
	if !q.link.Listed() && !q.parked {
		a.queues.Push(&q.link, q)
	}
}
