package link

import "weft/internal/engine/wire"

// An item is one frame that waits to be sent.
type item struct {
	head    [wire.MaxHead]byte
	size    uint8 // bytes of head
	urgent  bool
	last    bool   // it follows everything that waited when it came
	number  uint32 // of all frames of the queue, in the order in which they came
	payload []byte
	sent    int    // bytes of payload sent so far
	offset  uint64 // value of the frame's offset field for payload[0]
}

// long reports whether the frame is one that others need not wait for.
func (it *item) long() bool { return len(it.payload) > brief }

// replies reports whether the frame answers an operation on memory.
func (it *item) replies() bool {
	switch wire.Type(it.head[0]) {
	case wire.TypeAttached, wire.TypePulled, wire.TypeResult:
		return true
	}
	return false
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
		piece = piece[:room-room%wire.Grain(head)]
	}
	wire.SetOffset(head, it.offset+uint64(it.sent), last)
	return piece
}

// A fifo is the frames of one class, in order.
type fifo struct {
	items      []item // a ring; its length is 0 or a power of two
	head, tail uint32
}

func (f *fifo) empty() bool { return f.head == f.tail }

func (f *fifo) count() int { return int(f.tail - f.head) }

// first returns the frame that has waited longest. There is one.
func (f *fifo) first() *item { return &f.items[f.head&uint32(len(f.items)-1)] }

// add appends a frame, to be filled in.
func (f *fifo) add() *item {
	if int(f.tail-f.head) == len(f.items) {
		f.grow()
	}
	f.tail++
	return &f.items[(f.tail-1)&uint32(len(f.items)-1)]
}

// grow doubles the ring of frames.
func (f *fifo) grow() {
	bigger := make([]item, max(2*len(f.items), 4))
	for i := f.head; i != f.tail; i++ {
		bigger[i&uint32(len(bigger)-1)] = f.items[i&uint32(len(f.items)-1)]
	}
	f.items = bigger
}

// remove forgets the first frame.
func (f *fifo) remove() {
	f.first().payload = nil
	f.head++
}

// filter removes the frames for which drop reports true.
func (f *fifo) filter(drop func(*item) bool) {
	keep := f.head
	for i := f.head; i != f.tail; i++ {
		it := &f.items[i&uint32(len(f.items)-1)]
		if drop(it) {
			it.payload = nil
			continue
		}
		if keep != i {
			f.items[keep&uint32(len(f.items)-1)] = *it
			it.payload = nil
		}
		keep++
	}
	f.tail = keep
}
