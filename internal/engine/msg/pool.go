package msg

import (
	"math/bits"

	"weft/internal/engine/list"
)

const (
	minClass = 6  // the smallest block holds 64 bytes
	farClass = 16 // 64 KiB, the longest message not fetched on most paths
	maxClass = 20 // the largest holds 1 MiB, the longest message not fetched on a long path
)

// MaxEager is the longest message in bytes that always travels without being asked
// for. A receive buffer holds at least two of them.
const MaxEager = 1 << 15

// MaxFar is the longest message in bytes that travels unasked over a lossy path, to a port that says that it takes such
// messages. Asking first would take two more round trips for each message, and one more for each frame that is lost.
// (PROTOCOL §3.1)
const MaxFar = 1 << farClass

// A Block is the memory of one message in a send or receive buffer.
type Block struct {
	mem   []byte // its length is the block's size
	n     int    // length of the message
	use   uint32 // how often it has been given back: see Use
	class uint8
	kind  blockKind

	from  int
	seq   uint32 // received: the number of the message
	offer Offer  // kind announced
	err   error  // kind death

	link list.Link[Block] // in the port's order of arrival
	own  list.Link[Block] // among those from the same sender
	next *Block           // the next free one
}

type blockKind uint8

const (
	message   blockKind = iota
	announced           // a long message that waits at its sender
	death               // news that a peer died
)

// Data returns the message.
func (b *Block) Data() []byte { return b.mem[:b.n] }

// Seq returns the number of a received message among those of its sender, receiver and channel.
func (b *Block) Seq() uint32 { return b.seq }

// Use returns a number that changes when the block is given back or sent, by which a program is found out that does so
// twice.
func (b *Block) Use() uint32 { return b.use }

// Size returns the bytes of buffer that the message takes.
func (b *Block) Size() int { return len(b.mem) }

// A pool is a buffer of so many bytes, given out in blocks of 64
// bytes to 1 MiB. Blocks are made when first needed and come back in any
// order; the one used last is used next, because it is still in the cache.
// (The papers use rings: there a message that is not released blocks those
// behind it. See docs/decisions/0002.)
type pool struct {
	limit int // bytes
	used  int // bytes in blocks given out
	held  int // bytes in all blocks
	free  [maxClass + 1]*Block
}

// class returns the class of the blocks that hold n bytes.
func class(n int) int { return max(bits.Len(uint(max(n, 1)-1)), minClass) }

// fits reports whether a message of n bytes finds room, with reserve bytes
// left over.
func (p *pool) fits(n, reserve int) bool {
	return p.used+1<<class(n)+reserve <= p.limit
}

// room returns the bytes not given out.
func (p *pool) room() int { return p.limit - p.used }

// get returns a block for a message of n bytes. The caller has made sure that
// it fits, or means to exceed the limit.
func (p *pool) get(n int) *Block { return p.take(class(n), n) }

// take is get for a class that the message fits.
func (p *pool) take(c, n int) *Block {
	p.used += 1 << c
	b := p.free[c]
	if b == nil {
		return p.make(c, n)
	}
	p.free[c] = b.next
	b.next = nil
	b.n = n
	return b
}

// make makes a new block. When that would exceed the limit, because other
// classes hold free blocks, it gives those up first.
func (p *pool) make(c, n int) *Block {
	p.held += 1 << c
	p.trim()
	return &Block{mem: make([]byte, 1<<c), n: n, class: uint8(c)}
}

// forget takes a block back that others may still read, so it is not used again.
func (p *pool) forget(b *Block) {
	p.used -= len(b.mem)
	p.held -= len(b.mem)
}

// put takes a block back.
func (p *pool) put(b *Block) {
	p.used -= len(b.mem)
	b.use++
	b.kind = message
	b.err = nil
	b.next = p.free[b.class]
	p.free[b.class] = b
}
