package link

import (
	"weft/internal/engine/wire"
)

// A Queue holds the frames on their way to one peer, in the order in which
// they will be sent. A frame longer than a packet stays one entry and is cut
// into packets as they are sent, so that a queue's memory does not grow with
// the length of what is sent.
//
// Payloads are borrowed: their owner must not change them before the frame has
// been sent (over a lossy link: acknowledged), or must Detach them.
type Queue struct {
	Rank  int
	Owner any // the engine's, untouched

	// Resume is called when operations that had to wait have entered the queue, and
	// what must follow them may enter now.
	Resume func()

	Packets, Bytes uint64 // that went through the lane

	lane       Lane // nil: frames wait for Next
	room       int  // bytes of a packet on it
	active     *Active
	next       *Queue // in active
	listed     bool
	items      []item // a ring; its length is a power of two
	head, tail uint32

	// Operations that wait to enter the queue have numbers, the last of which is
	// turn. None up to entered waits any more.
	turn, entered uint32
}

// A Lane is a reliable way to one peer that takes single packets at once: what
// is pushed to an empty queue need not wait there.
type Lane interface {
	// Push sends one packet, or reports that there is no room for it now.
	Push(header, payload []byte, urgent bool) bool
}

// Through makes frames that fit into room bytes go straight to a lane; nil
// ends that. It counts them.
func (q *Queue) Through(lane Lane, room int) { q.lane, q.room = lane, room }

// Active lists the queues that have frames to send, in the order in which they
// got them.
type Active struct{ first, last *Queue }

// An item is one frame.
type item struct {
	head    [wire.MaxHead]byte
	size    uint8 // bytes of head
	urgent  bool
	payload []byte
	sent    int    // bytes of payload sent so far
	offset  uint64 // value of the frame's offset field for payload[0]
}

// NewQueue returns an empty queue to a peer. It puts itself on the list when
// frames are pushed.
func NewQueue(rank int, active *Active) *Queue {
	return &Queue{Rank: rank, active: active, items: make([]item, 4)}
}

// Head returns room for the head of the next frame: append to it, then Push it.
func (q *Queue) Head() []byte {
	if int(q.tail-q.head) == len(q.items) {
		q.grow()
	}
	return q.items[q.tail&uint32(len(q.items)-1)].head[:0]
}

// Push adds the frame whose head was appended to what Head returned. Urgent
// frames wake a peer that waits for nothing.
func (q *Queue) Push(head, payload []byte, urgent bool) {
	if q.Direct(head, payload, urgent) {
		return
	}
	it := &q.items[q.tail&uint32(len(q.items)-1)]
	it.size, it.urgent, it.payload, it.sent = uint8(len(head)), urgent, payload, 0
	q.tail++
	if !q.listed {
		q.active.Add(q)
	}
}

// Direct sends a frame, whose head was appended to what Head returned, through
// the lane, and reports whether it could. It does not borrow the payload.
func (q *Queue) Direct(head, payload []byte, urgent bool) bool {
	size := len(head) + len(payload)
	if q.lane == nil || q.head != q.tail || size > q.room || !q.lane.Push(head, payload, urgent) {
		return false
	}
	q.Packets++
	q.Bytes += uint64(size)
	return true
}

// Wait returns the number of an operation that must wait before its frame can enter
// the queue. Entered says that none up to a number waits any more.
func (q *Queue) Wait() (number uint32) {
	q.turn++
	return q.turn
}

// Entered says that no operation up to a number waits to enter any more.
func (q *Queue) Entered(number uint32) {
	if q.entered != number {
		q.entered = number
		q.Resume()
	}
}

// Last returns the number of the last operation that had to wait, for Follows.
func (q *Queue) Last() uint32 { return q.turn }

// Follows reports whether a frame that must not overtake the operations up to a
// number may enter.
func (q *Queue) Follows(number uint32) bool { return int32(q.entered-number) >= 0 }

// Len returns the number of frames that wait.
func (q *Queue) Len() int { return int(q.tail - q.head) }

// Next returns the next packet, of at most max bytes of head and payload, or
// ok false if there is none. It stays the next one until Sent.
func (q *Queue) Next(max int) (head, payload []byte, urgent, ok bool) {
	if q.head == q.tail {
		return nil, nil, false, false
	}
	it := &q.items[q.head&uint32(len(q.items)-1)]
	head = it.head[:it.size]
	if it.sent == 0 && len(it.payload) <= max-len(head) {
		return head, it.payload, it.urgent, true
	}
	payload = it.cut(max - len(head))
	return head, payload, it.urgent, true
}

// cut returns the next piece of a frame that does not fit one packet, and
// makes the head say which piece it is.
func (it *item) cut(room int) []byte {
	head := it.head[:it.size]
	if it.sent == 0 {
		it.offset = wire.Offset(head)
	}
	piece := it.payload[it.sent:]
	last := len(piece) <= room
	if !last {
		piece = piece[:room]
	}
	wire.SetOffset(head, it.offset+uint64(it.sent), last)
	return piece
}

// Sent says that the n bytes of payload that Next returned have been sent.
func (q *Queue) Sent(n int) {
	it := &q.items[q.head&uint32(len(q.items)-1)]
	it.sent += n
	if it.sent == len(it.payload) {
		it.payload = nil
		q.head++
	}
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
	keep := q.head
	for i := q.head; i != q.tail; i++ {
		it := &q.items[i&uint32(len(q.items)-1)]
		if drop(it) {
			it.payload = nil
			continue
		}
		if keep != i {
			q.items[keep&uint32(len(q.items)-1)] = *it
			it.payload = nil
		}
		keep++
	}
	q.tail = keep
}

// sameArray reports whether two slices end in the same array: slicing moves a
// slice's start and length, but not the end of its capacity.
func sameArray(a, b []byte) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:cap(a)][cap(a)-1] == &b[:cap(b)][cap(b)-1]
}

// Clear forgets every frame.
func (q *Queue) Clear() {
	for i := q.head; i != q.tail; i++ {
		q.items[i&uint32(len(q.items)-1)].payload = nil
	}
	q.head = q.tail
}

func (q *Queue) grow() {
	bigger := make([]item, 2*len(q.items))
	for i := q.head; i != q.tail; i++ {
		bigger[i&uint32(len(bigger)-1)] = q.items[i&uint32(len(q.items)-1)]
	}
	q.items = bigger
}

// First returns the queue that has waited longest, or nil.
func (a *Active) First() *Queue { return a.first }

// Rotate moves the first queue to the end, so that others get their turn.
func (a *Active) Rotate() {
	if a.first != a.last {
		a.Add(a.Remove())
	}
}

// Empty reports whether no queue is on the list.
func (a *Active) Empty() bool { return a.first == nil }

// Remove takes the first queue off the list until it is pushed to or Added.
func (a *Active) Remove() *Queue {
	q := a.first
	a.first = q.next
	if a.first == nil {
		a.last = nil
	}
	q.next, q.listed = nil, false
	return q
}

// Add puts a queue on the list if it is not there.
func (a *Active) Add(q *Queue) {
	if q.listed {
		return
	}
	q.listed = true
	if a.last == nil {
		a.first = q
	} else {
		a.last.next = q
	}
	a.last = q
}
