package ring

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// A ring of bytes has one producer and one consumer. It carries a stream, where Pair carries
// packets. Both ends count bytes from the beginning of the stream. A byte lies at its number
// modulo the part of the memory that is in use.
//
// That part grows by a factor of four after the producer has found the ring full, as soon as no
// byte would change its place: at once if nothing has been read, else when the ring is empty. An
// empty ring can also shrink to its first size.

const (
	// BytesControl is the memory that both ends of a ring of bytes share besides
	// the data. It must be aligned to a cache line, and zero at first.
	BytesControl = 8 * line

	// BytesLeast is how much of the data is used at first.
	BytesLeast = 16 << 10

	bytesGrowth = 4
)

// ErrNonsense reports words in shared memory that cannot be: the other side is broken
// or hostile. Nothing was read or written outside the ring.
var ErrNonsense = errors.New("ring: the other side wrote positions that cannot be")

// bytesControl is the shared memory of a ring of bytes. The words that one side writes
// with every operation lie on other cache lines than the words that it reads.
type bytesControl struct {
	tail  atomic.Uint64 // bytes written; then the producer's other words
	size  atomic.Uint32 // bytes of the data in use
	ended atomic.Uint32 // nothing will follow tail
	_     [2*line - 16]byte

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
	m       *bytesControl
	data    []byte
	tail    uint64 // bytes written, published or not
	head    uint64 // bytes read as far as known
	size    uint64
	pressed bool // it has been full since it grew
}

// NewByteProducer returns the writing end of a new ring. The length of data is a power of two, BytesLeast or more.
func NewByteProducer(control, data []byte) *ByteProducer {
	p := &ByteProducer{m: controlAt(control), data: data, size: BytesLeast}
	p.m.size.Store(BytesLeast)
	return p
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
	if p.pressed || p.tail-p.head == p.size {
		if err := p.refresh(); err != nil {
			return nil, err
		}
	}
	at := p.tail & (p.size - 1)
	free := p.size - (p.tail - p.head)
	return p.data[at:min(at+free, p.size)], nil
}

// refresh reads how far the consumer is, and grows the ring if that is due and possible.
func (p *ByteProducer) refresh() error {
	head := p.m.head.Load()
	if p.tail-head > p.tail-p.head {
		return ErrNonsense // beyond the tail, or behind where it was
	}
	p.head = head
	grown := min(p.size*bytesGrowth, uint64(len(p.data)))
	if p.tail-head == p.size && p.size < grown {
		p.pressed = true
	}
	if p.pressed && (p.tail == head || head&(grown-1) == 0 && p.tail-head <= p.size) {
		p.size = grown
		p.pressed = false
		p.m.size.Store(uint32(grown))
	}
	return nil
}

// Commit says that the first n bytes of what Reserve returned have been written.
func (p *ByteProducer) Commit(n int) { p.tail += uint64(n) }

// Publish shows the consumer all that has been committed. It is a full fence: the
// consumer's doorbell must be looked at next.
func (p *ByteProducer) Publish() { p.m.tail.Store(p.tail) }

// Want says at which moment the producer wants to be rung: when half of the ring is free,
// or, if it is to grow, when all is. It comes before the doorbell is armed.
func (p *ByteProducer) Want() {
	at := p.tail
	if !p.pressed {
		at -= p.size / 2
	}
	p.m.wanted.Store(at)
}

// Ready reports whether what Want named has come, or never will.
func (p *ByteProducer) Ready() bool {
	behind := p.tail - p.m.head.Load()
	return behind == 0 || !p.pressed && behind <= p.size/2 || behind > p.size || p.Refused()
}

// Grown reports whether more of the data is in use than at first.
func (p *ByteProducer) Grown() bool { return p.size > BytesLeast }

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

// Shrink makes the ring use as little of the data as at first, if it is empty, and reports
// whether it is: then the data holds nothing that is still needed.
func (p *ByteProducer) Shrink() bool {
	head := p.m.head.Load()
	if head != p.tail {
		return false
	}
	p.head = head
	p.size = BytesLeast
	p.pressed = false
	p.m.size.Store(BytesLeast)
	return true
}

// End says that nothing will follow. It is a full fence, as Publish is.
func (p *ByteProducer) End() { p.m.ended.Store(1) }

// A ByteConsumer is the reading end of a ring of bytes.
type ByteConsumer struct {
	m    *bytesControl
	data []byte
	head uint64 // bytes read
	tail uint64 // bytes written as far as known
	size uint64
}

// NewByteConsumer returns the reading end of a new ring.
func NewByteConsumer(control, data []byte) *ByteConsumer {
	return &ByteConsumer{m: controlAt(control), data: data}
}

// Begun reports whether the ring has a producer: NewByteProducer has been called.
func (c *ByteConsumer) Begun() bool { return c.m.size.Load() != 0 }

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
	at := c.head & (c.size - 1)
	return c.data[at:min(at+c.tail-c.head, c.size)], nil
}

// refresh reads how far the producer is. The size in use can change only while the
// ring is empty, so the size that is read after a new tail belongs to that tail.
func (c *ByteConsumer) refresh() error {
	tail := c.m.tail.Load()
	if tail == c.head {
		return nil
	}
	size := uint64(c.m.size.Load())
	if size < BytesLeast || size > uint64(len(c.data)) || size&(size-1) != 0 || tail-c.head > size {
		return ErrNonsense
	}
	c.tail = tail
	c.size = size
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
