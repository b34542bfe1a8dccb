package ring

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"weft/internal/mem"
)

// A ring of bytes has one producer and one consumer. It carries a stream, where Pair carries
// packets. Both ends count bytes from the beginning of the stream.
//
// The memory of the data is cut into parts: the first has BytesLeast bytes, each further one four times as many as the
// one before, and the last has what is left. The producer writes into one part at a time, in which a byte lies at its
// number modulo the part's size. When it finds the part full it begins the next one, and notes in the shared memory the
// number of the first byte there. So a ring takes as many bytes as its last part has before its producer must wait,
// whatever has been read, and no byte changes its place. The consumer reads each part up to the number at which the
// next begins. When the ring is empty the producer can begin again with the first part.

const (
	// BytesControl is the memory that both ends of a ring of bytes share besides
	// the data. It must be aligned to a cache line, and zero at first.
	BytesControl = 8 * line

	// BytesLeast is the size of the first part of the data.
	BytesLeast = 16 << 10

	bytesGrowth = 4
	mostParts   = 8
)

// ErrNonsense reports words in shared memory that cannot be: the other side is broken
// or hostile. Nothing was read or written outside the ring.
var ErrNonsense = errors.New("ring: the other side wrote positions that cannot be")

// BytesMemory returns the memory of the data of a ring whose last part has size bytes: a power of two, from BytesLeast
// to BytesLeast<<14.
func BytesMemory(size int) int {
	n := size
	for part := BytesLeast; part < size; part *= bytesGrowth {
		n += part
	}
	return n
}

// partAt returns where a part of the data begins.
func partAt(n int) int { return BytesLeast * (1<<(2*n) - 1) / (bytesGrowth - 1) }

// partOf returns a part of the data.
func partOf(data []byte, n int) []byte {
	at := partAt(n)
	end := min(partAt(n+1), len(data))
	return data[at:end:end]
}

// partsOf returns how many parts the data has.
func partsOf(data []byte) int {
	n := 1
	for partAt(n) < len(data) {
		n++
	}
	return n
}

// bytesControl is the shared memory of a ring of bytes. The words that one side writes
// with every operation lie on other cache lines than the words that it reads.
type bytesControl struct {
	tail  atomic.Uint64 // bytes written; then the producer's other words
	used  atomic.Uint32 // parts in use: the last of them is written into, and those before it may still be read
	ended atomic.Uint32 // nothing will follow tail
	_     [line - 16]byte

	begins [mostParts]atomic.Uint64 // the number of the first byte of each part in use

	head atomic.Uint64 // bytes read
	_    [2*line - 8]byte

	bell    uint32        // doorbell of the consumer
	refused atomic.Uint32 // the consumer reads no more
	_       [2*line - 8]byte

	roomBell uint32        // doorbell of the producer,
	wanted   atomic.Uint64 // which is to be rung when head is here
	_        [2*line - 16]byte
}

func controlAt(mem []byte) *bytesControl {
	_ = mem[BytesControl-1]
	return (*bytesControl)(unsafe.Pointer(unsafe.SliceData(mem)))
}

// A ByteProducer is the writing end of a ring of bytes.
type ByteProducer struct {
	m     *bytesControl
	data  []byte
	parts int
	used  int    // parts in use
	part  []byte // the last of them
	begun uint64 // the number of its first byte
	tail  uint64 // bytes written, published or not
	read  uint64 // bytes read as far as known
	head  uint64 // read, or begun if that is more: part has bytes from there to tail
	left  int    // parts that Left has returned
	shown uint64 // bytes published
}

// NewByteProducer returns the writing end of a new ring. The length of data is what BytesMemory says.
func NewByteProducer(control, data []byte) *ByteProducer {
	p := &ByteProducer{m: controlAt(control), data: data, parts: partsOf(data)}
	p.begin(0)
	return p
}

// begin makes a part the one into which the producer writes. Nothing that is to be read lies in it.
func (p *ByteProducer) begin(part int) {
	p.used = part + 1
	p.part = partOf(p.data, part)
	p.begun = p.tail
	p.head = p.tail
	p.m.begins[part].Store(p.begun) // before the part is used
	p.m.used.Store(uint32(p.used))  // before the next tail
}

// Bell returns the doorbell on which the producer waits for room.
func (p *ByteProducer) Bell() *uint32 { return &p.m.roomBell }

// ConsumerBell returns the doorbell of the other side, to be rung after Publish.
func (p *ByteProducer) ConsumerBell() *uint32 { return &p.m.bell }

// Refused reports whether the consumer reads no more.
func (p *ByteProducer) Refused() bool { return p.m.refused.Load() != 0 }

// Reserve returns free memory in one piece: as much of what is free as lies together,
// and nothing if the ring is full.
func (p *ByteProducer) Reserve() ([]byte, error) {
	if p.tail-p.head == uint64(len(p.part)) {
		if err := p.refresh(); err != nil {
			return nil, err
		}
	}
	size := uint64(len(p.part))
	at := p.tail & (size - 1)
	free := size - (p.tail - p.head)
	return p.part[at:min(at+free, size)], nil
}

// refresh reads how far the consumer is, and begins the next part if this one is full.
func (p *ByteProducer) refresh() error {
	read := p.m.head.Load()
	if p.tail-read > p.tail-p.read {
		return ErrNonsense // beyond the tail, or behind where it was
	}
	p.read = read
	p.head = max(read, p.begun)
	if p.tail-p.head == uint64(len(p.part)) && p.used < p.parts {
		p.begin(p.used)
	}
	return nil
}

// Commit says that the first n bytes of what Reserve returned have been written.
func (p *ByteProducer) Commit(n int) { p.tail += uint64(n) }

// Publish shows the consumer all that has been committed. It is a full fence: the
// consumer's doorbell must be looked at next. It asks for the memory that as many bytes again will need.
func (p *ByteProducer) Publish() {
	p.m.tail.Store(p.tail)
	again := p.tail - p.shown
	p.shown = p.tail
	size := uint64(len(p.part))
	at := p.tail & (size - 1)
	mem.Own(p.part[at:min(at+again, size)])
}

// Want says at which moment the producer, whose ring is full, wants to be rung: when half of the last part is free. It
// comes before the doorbell is armed.
func (p *ByteProducer) Want() { p.m.wanted.Store(p.tail - uint64(len(p.part))/2) }

// Ready reports whether what Want named has come, or never will.
func (p *ByteProducer) Ready() bool {
	behind := p.tail - p.m.head.Load()
	return behind <= uint64(len(p.part))/2 || behind > p.tail-p.read || p.Refused()
}

// Grown reports whether more of the data is in use than at first.
func (p *ByteProducer) Grown() bool { return p.used > 1 }

// Positions returns how many bytes have been written and how many of them have been read, as the shared memory says:
// the other side could have changed it. Any goroutine may ask.
func (p *ByteProducer) Positions() (written, read uint64) { return p.m.positions() }

// positions reads the tail last: read is not more than written.
func (m *bytesControl) positions() (written, read uint64) {
	read = m.head.Load()
	return m.tail.Load(), read
}

// Data returns the data, in use or not.
func (p *ByteProducer) Data() []byte { return p.data }

// Written returns how many bytes have been committed.
func (p *ByteProducer) Written() uint64 { return p.tail }

// Left returns the memory of the parts that both ends have left since Left was called last: it holds nothing that is
// still needed. Nobody touches it before the ring has shrunk.
func (p *ByteProducer) Left() []byte {
	if p.left == p.used-1 || p.m.head.Load() < p.begun {
		return nil
	}
	from := partAt(p.left)
	p.left = p.used - 1
	return p.data[from:partAt(p.left)]
}

// Shrink makes the ring begin again with the first part, if it is empty, and reports
// whether it is: then the data holds nothing that is still needed.
func (p *ByteProducer) Shrink() bool {
	if p.m.head.Load() != p.tail {
		return false
	}
	p.read = p.tail
	p.left = 0
	p.begin(0)
	return true
}

// End says that nothing will follow. It is a full fence, as Publish is.
func (p *ByteProducer) End() { p.m.ended.Store(1) }

// A ByteConsumer is the reading end of a ring of bytes.
type ByteConsumer struct {
	m     *bytesControl
	data  []byte
	parts int
	n     int    // the part that is read,
	part  []byte // and its memory
	head  uint64 // bytes read
	tail  uint64 // bytes of this part, and those before, that have been written as far as known
}

// NewByteConsumer returns the reading end of a new ring.
func NewByteConsumer(control, data []byte) *ByteConsumer {
	return &ByteConsumer{m: controlAt(control), data: data, parts: partsOf(data), part: partOf(data, 0)}
}

// Begun reports whether the ring has a producer: NewByteProducer has been called.
func (c *ByteConsumer) Begun() bool { return c.m.used.Load() != 0 }

// Bell returns the doorbell on which the consumer waits for bytes.
func (c *ByteConsumer) Bell() *uint32 { return &c.m.bell }

// ProducerBell returns the doorbell of the other side, to be rung after Take if
// Wanted says so.
func (c *ByteConsumer) ProducerBell() *uint32 { return &c.m.roomBell }

// Wanted reports whether the consumer is where the producer wanted it to be.
func (c *ByteConsumer) Wanted() bool { return int64(c.head-c.m.wanted.Load()) >= 0 }

// Ready reports whether there are bytes, or none will come any more.
func (c *ByteConsumer) Ready() bool {
	return c.tail != c.head || c.m.tail.Load() != c.head || c.Ended()
}

// More reports whether bytes wait of which the consumer knows: it does not look.
func (c *ByteConsumer) More() bool { return c.tail != c.head }

// Ended reports whether the producer has said that nothing follows. What came before
// is there then.
func (c *ByteConsumer) Ended() bool { return c.m.ended.Load() != 0 }

// Peek returns bytes that wait, as many as lie together, on loan until Take. The
// producer may still change them, if it is hostile.
func (c *ByteConsumer) Peek() ([]byte, error) {
	if c.tail == c.head {
		if err := c.refresh(); err != nil {
			return nil, err
		}
	}
	if c.tail == c.head {
		return nil, nil
	}
	size := uint64(len(c.part))
	at := c.head & (size - 1)
	return c.part[at:min(at+c.tail-c.head, size)], nil
}

// refresh reads how far the producer is, and finds the part in which the next byte lies: the last one that begins with
// it or an earlier byte. A part is noted before bytes in it are published, and noted anew only while the ring is empty.
// So what is read after a new tail belongs to that tail, or begins there or later.
func (c *ByteConsumer) refresh() error {
	tail := c.m.tail.Load()
	if tail == c.head {
		return nil
	}
	n := int(c.m.used.Load()) - 1
	if n < 0 || n >= c.parts || tail-c.head > uint64(len(c.data)) {
		return ErrNonsense
	}
	for begins := c.m.begins[n].Load(); begins > c.head; begins = c.m.begins[n].Load() {
		if n == 0 {
			return ErrNonsense
		}
		tail = min(tail, begins)
		n--
	}
	if n != c.n {
		c.n = n
		c.part = partOf(c.data, n)
	}
	if tail-c.head > uint64(len(c.part)) {
		return ErrNonsense
	}
	c.tail = tail
	return nil
}

// Take gives the first n bytes back, which Peek has returned. It is a full fence: the
// producer's doorbell must be looked at next.
func (c *ByteConsumer) Take(n int) {
	c.head += uint64(n)
	c.m.head.Store(c.head)
}

// Taken returns how many bytes have been taken.
func (c *ByteConsumer) Taken() uint64 { return c.head }

// Positions is that of the producer.
func (c *ByteConsumer) Positions() (written, read uint64) { return c.m.positions() }

// Refuse tells the producer that nothing more will be read.
func (c *ByteConsumer) Refuse() { c.m.refused.Store(1) }
