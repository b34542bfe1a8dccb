package ring

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/mem"
)

const (
	// Inline is the longest packet that lies in its cell.
	Inline = 56

	pairCells = 256
	pairData  = 128 << 10
	line      = 64

	// PairBytes is the memory that a Pair takes. It must be aligned to a
	// cache line, and zero at first.
	PairBytes = 2*line + pairCells*line + pairData

	// MaxPacket is the longest packet that a ring takes: an eighth of the
	// data, less what rounding can waste.
	MaxPacket = 12 << 10
)

// cell is one cache line in shared memory.
type cell struct {
	stamp uint32 // written last by the producer: lap of the ring, from 1
	size  uint32 // of the packet
	data  [Inline]byte
}

// pair is the shared memory of a Pair.
type pair struct {
	// head counts the packets that the consumer has taken. It is written by
	// the consumer, rarely, and read by the producer when it thinks that the
	// ring is full.
	head atomic.Uint64
	_    [2*line - 8]byte

	cells [pairCells]cell
	data  [pairData]byte
}

func pairAt(mem []byte) *pair {
	_ = mem[PairBytes-1]
	return (*pair)(unsafe.Pointer(unsafe.SliceData(mem)))
}

// A Producer is the sending end of a Pair.
type Producer struct {
	m     *pair
	pos   uint64            // packets pushed
	head  uint64            // of those, taken by the consumer as far as known
	tail  uint64            // bytes of data used, in all laps
	freed uint64            // bytes of data free again
	ends  [pairCells]uint64 // tail after each packet in the ring
}

// NewProducer returns the sending end of the ring in mem. It continues where
// the ring's consumer stands, so the ring must have been drained.
func NewProducer(mem []byte) *Producer {
	p := &Producer{m: pairAt(mem)}
	p.head = p.m.head.Load()
	p.pos = p.head
	return p
}

// Push copies a packet into the ring and reports whether there was room.
func (p *Producer) Push(header, payload []byte) bool {
	if p.pos-p.head == pairCells && !p.refresh() {
		return false
	}
	c := &p.m.cells[p.pos%pairCells]
	size := len(header) + len(payload)
	if size <= Inline {
		c.put(header, payload)
	} else {
		at, ok := p.reserve(size)
		if !ok {
			return false
		}
		copy(p.m.data[at:], header)
		mem.Move(p.m.data[at+uint64(len(header)):], payload)
		*(*uint32)(unsafe.Pointer(&c.data)) = uint32(at)
	}
	c.size = uint32(size)
	p.ends[p.pos%pairCells] = p.tail
	// The stamp publishes everything before it. It is a full fence too, which
	// the doorbell's protocol needs.
	atomic.StoreUint32(&c.stamp, uint32(p.pos/pairCells)+1)
	p.pos++
	p.own(size)
	return true
}

// own makes the lines that the next packet will need this processor's, if it is as long as the last one. Of the cells
// it is the one behind the next, at which the consumer does not look yet.
func (p *Producer) own(size int) {
	mem.Own(p.m.cells[(p.pos+1)%pairCells].data[:1])
	if size > Inline && p.tail+uint64(size)-p.freed <= pairData {
		at := p.tail % pairData
		mem.Own(p.m.data[at:min(at+uint64(size), pairData)])
	}
}

// put copies a packet into the cell. A short message has a header of 20 bytes, and often one word: that is a few
// stores, of the sizes in which its sender has made it, since the processor cannot forward a longer load from them.
func (c *cell) put(header, payload []byte) {
	switch len(header) {
	case 20:
		mem.Copy20(c.data[:], header)
	case 40: // that of a message, and that of package mpi
		mem.Copy20(c.data[:], header)
		mem.Copy20(c.data[20:], header[20:])
	default:
		copy(c.data[:], header)
	}
	if len(payload) == 8 {
		*(*[8]byte)(c.data[len(header):]) = *(*[8]byte)(payload)
		return
	}
	copy(c.data[len(header):], payload)
}

// refresh reads how far the consumer is, and reports whether that made room.
func (p *Producer) refresh() bool {
	head := p.m.head.Load()
	if head == p.head || p.pos-head > pairCells {
		return false // no news, or nonsense
	}
	p.head = head
	p.freed = p.ends[(head-1)%pairCells]
	return true
}

// reserve finds room for size bytes in one piece.
func (p *Producer) reserve(size int) (at uint64, ok bool) {
	n := (uint64(size) + line - 1) &^ (line - 1)
	tail := p.tail
	if tail%pairData+n > pairData {
		tail += pairData - tail%pairData
	}
	if tail+n-p.freed > pairData && (!p.refresh() || tail+n-p.freed > pairData) {
		if p.pos != p.head {
			return 0, false
		}
		p.freed = tail // the ring is empty
	}
	p.tail = tail + n
	return tail % pairData, true
}

// Drained reports whether the consumer has taken everything.
func (p *Producer) Drained() bool { return p.m.head.Load() == p.pos }

// A Consumer is the receiving end of a Pair.
type Consumer struct {
	m         *pair
	pos       uint64 // packets taken
	published uint64 // as the producer was told
	bytes     int    // of data taken since
}

// NewConsumer returns the receiving end of the ring in mem.
func NewConsumer(mem []byte) *Consumer {
	c := &Consumer{m: pairAt(mem)}
	c.pos = c.m.head.Load()
	c.published = c.pos
	return c
}

// Ready reports whether there is a packet.
func (c *Consumer) Ready() bool { return c.ready(c.pos) }

func (c *Consumer) ready(pos uint64) bool {
	return atomic.LoadUint32(&c.m.cells[pos%pairCells].stamp) == uint32(pos/pairCells)+1
}

// Peek returns the i-th packet that waits, or ok false if there are not that
// many. It is on loan until Take. A packet that cannot be is returned empty.
func (c *Consumer) Peek(i int) (pkt []byte, ok bool) {
	pos := c.pos + uint64(i)
	if i >= pairCells || !c.ready(pos) {
		return nil, false
	}
	cl := &c.m.cells[pos%pairCells]
	size := atomic.LoadUint32(&cl.size)
	if size <= Inline {
		return cl.data[:size], true
	}
	at := atomic.LoadUint32((*uint32)(unsafe.Pointer(&cl.data)))
	if size > MaxPacket || at > pairData || pairData-at < size {
		return nil, true
	}
	return c.m.data[at : at+size], true
}

// Take ends the loan of the first n packets, of bytes together.
func (c *Consumer) Take(n, bytes int) {
	c.pos += uint64(n)
	c.bytes += bytes
	if c.pos-c.published >= pairCells/4 || c.bytes >= pairData/8 {
		c.Publish()
	}
}

// Publish tells the producer how far the consumer is.
func (c *Consumer) Publish() {
	c.published = c.pos
	c.bytes = 0
	c.m.head.Store(c.pos)
}
