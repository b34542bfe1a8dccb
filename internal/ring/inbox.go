package ring

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/mem"
)

const (
	inboxCells = 64

	// InboxBytes is the memory that an Inbox takes. It must be aligned to a
	// cache line, and zero at first.
	InboxBytes = line + inboxCells*line + inboxCells*MaxPacket
)

// The word of a cell holds a lap in its upper half, which wraps, and a state in
// the lower: free, full, or claimed by a rank. The claim is made by one
// compare-and-swap that names its owner. So at every instant the consumer can tell which rank
// a cell waits for, even if that rank has been killed.
const (
	free    = 0
	full    = 1
	claimed = 2 // plus the owner's rank

	// retired is the word of a cell whose owner died between claiming and
	// filling it: a process that only seemed dead may still write there, so
	// no producer uses the cell again.
	retired = ^uint64(0)
)

// word returns the word of a cell that the packet at a position goes into.
func word(pos uint64, state uint32) uint64 { return pos/inboxCells<<32 | uint64(state) }

// laps returns by how many laps a word is ahead of a position.
func laps(w, pos uint64) int32 { return int32(uint32(w>>32) - uint32(pos/inboxCells)) }

// inboxCell is one cache line in shared memory.
type inboxCell struct {
	word atomic.Uint64
	from uint32 // rank of the producer
	size uint32
	data [inline]byte
}

const inline = line - 16

// inbox is the shared memory of an Inbox.
type inbox struct {
	tail  atomic.Uint64 // next cell to claim; every producer helps it on
	_     [line - 8]byte
	cells [inboxCells]inboxCell
	data  [inboxCells][MaxPacket]byte
}

func inboxAt(mem []byte) *inbox {
	_ = mem[InboxBytes-1]
	return (*inbox)(unsafe.Pointer(unsafe.SliceData(mem)))
}

// An InboxProducer is one producer of an Inbox.
type InboxProducer struct {
	m    *inbox
	rank uint32
	last uint64 // where the last packet went
	sent bool
}

// NewInboxProducer returns a sending end of the ring in mem for a rank.
func NewInboxProducer(mem []byte, rank int) *InboxProducer {
	return &InboxProducer{m: inboxAt(mem), rank: uint32(rank)}
}

// Push copies a packet into the ring and reports whether there was room.
func (s *InboxProducer) Push(header, payload []byte) bool {
	for {
		t := s.m.tail.Load()
		i := t % inboxCells
		c := &s.m.cells[i]
		w := c.word.Load()
		switch {
		case w == word(t, free):
			if c.word.CompareAndSwap(w, word(t, claimed+s.rank)) {
				s.m.tail.CompareAndSwap(t, t+1)
				s.fill(c, i, header, payload)
				c.word.Store(word(t, full))
				s.last = t
				s.sent = true
				return true
			}
		case w == retired || laps(w, t) == 0:
			s.m.tail.CompareAndSwap(t, t+1) // taken: help its owner on
		case s.m.tail.Load() == t:
			return false // still full from the lap before
		}
	}
}

func (s *InboxProducer) fill(c *inboxCell, i uint64, header, payload []byte) {
	size := len(header) + len(payload)
	to := c.data[:]
	if size > inline {
		to = s.m.data[i][:]
	}
	copy(to, header)
	mem.Move(to[len(header):], payload)
	c.from = s.rank
	c.size = uint32(size)
}

// Drained reports whether the consumer has taken everything that this end has
// pushed.
func (s *InboxProducer) Drained() bool {
	if !s.sent {
		return true
	}
	w := s.m.cells[s.last%inboxCells].word.Load()
	return w == retired || laps(w, s.last) > 0
}

// An InboxConsumer is the consumer of an Inbox.
type InboxConsumer struct {
	m    *inbox
	pos  uint64
	dead func(rank int) bool
}

// NewInboxConsumer returns the receiving end of the ring in mem. Cells claimed by a
// rank that dead reports are given up.
func NewInboxConsumer(mem []byte, dead func(rank int) bool) *InboxConsumer {
	return &InboxConsumer{m: inboxAt(mem), dead: dead}
}

// Ready reports whether there is, or may be, a packet.
func (r *InboxConsumer) Ready() bool {
	w := r.m.cells[r.pos%inboxCells].word.Load()
	return w == word(r.pos, full) || w == retired && r.m.tail.Load() > r.pos
}

// Idle reports whether the next cell is free: no producer has even claimed it.
func (r *InboxConsumer) Idle() bool {
	return r.m.cells[r.pos%inboxCells].word.Load() == word(r.pos, free)
}

// Peek returns the i-th packet that waits and its sender, or ok false. It is on
// loan until Take. A packet that cannot be is returned empty.
func (r *InboxConsumer) Peek(i int) (from int, pkt []byte, ok bool) {
	if i == 0 {
		r.skip()
	}
	pos := r.pos + uint64(i)
	if i >= inboxCells {
		return 0, nil, false
	}
	c := &r.m.cells[pos%inboxCells]
	if c.word.Load() != word(pos, full) {
		return 0, nil, false
	}
	from = int(atomic.LoadUint32(&c.from))
	size := atomic.LoadUint32(&c.size)
	switch {
	case size <= inline:
		return from, c.data[:size], true
	case size <= MaxPacket:
		return from, r.m.data[pos%inboxCells][:size], true
	default:
		return from, nil, true
	}
}

// skip passes cells whose producers are dead, so that they will never be filled.
func (r *InboxConsumer) skip() {
	for {
		c := &r.m.cells[r.pos%inboxCells]
		w := c.word.Load()
		switch {
		case w == retired && r.m.tail.Load() > r.pos:
			r.pos++
		case w != retired && laps(w, r.pos) == 0 && uint32(w) >= claimed && r.dead(int(uint32(w)-claimed)):
			c.word.Store(retired)
			r.m.tail.CompareAndSwap(r.pos, r.pos+1)
		default:
			return
		}
	}
}

// Take ends the loan of the first n packets.
func (r *InboxConsumer) Take(n int) {
	for range n {
		r.m.cells[r.pos%inboxCells].word.Store(word(r.pos+inboxCells, free))
		r.pos++
	}
}
