package fabric

import (
	"encoding/binary"

	"weft/fabric/internal/ofi"
	"weft/internal/mem"
)

// A message is a head and a packet. The head's token goes beside the message if the provider can do that: a short
// message then takes as few lines of the processors' caches as one without a head.
//
//	bytes  head
//	0-1    the packet's number, counted from 0 for each receiver
//	2-3    how many packets of the receiver the sender has consumed (14 bits), and the kind
//	4-11   the token that the receiver has given to the sender, which names the sender
const (
	headSize  = 12
	briefHead = 4 // without the token
)

// The kinds of messages.
const (
	packet   = 1
	greeting = 2 // the two ranks have met, and this is the first message
	credit   = 3 // it brings the numbers of its head alone
)

// mtu is the longest packet. With its head it fits into what providers send without asking the receiver first.
const mtu = 16<<10 - headSize

// receives is how many messages a rank has room for; sends is how many of its own may be under way that are too long
// for the provider to keep.
const (
	receives = 256
	sends    = 64
)

// slots are the buffers of all messages, in memory that libfabric knows: first those for receiving, then those for
// sending, one for messages that the provider keeps, and those of
// remote accesses. Each slot is a context, and the message.
type slots struct {
	arena      *ofi.Arena
	registered *ofi.Registration
	all        []byte
	base       uintptr
	receives   int
	head       int // of a message: headSize, or briefHead
}

const stride = ofi.ContextSize + headSize + mtu // a multiple of 64

func (s *slots) open(e *ofi.Endpoint) (err error) {
	s.receives = min(receives, e.Room)
	s.head = headSize
	if e.Beside {
		s.head = briefHead
	}
	n := (s.receives + sends + 1 + accesses) * stride
	if s.arena, err = ofi.NewArena(n); err != nil {
		return err
	}
	s.all = s.arena.Take(n)
	s.base = uintptr(mem.Addr(s.all))
	s.registered, err = e.Register(s.all, ofi.Local)
	return err
}

// context returns the context of a slot.
func (s *slots) context(i int) *byte { return &s.all[i*stride] }

// message returns the first n bytes of a slot's message.
func (s *slots) message(i, n int) []byte {
	at := i*stride + ofi.ContextSize
	return s.all[at : at+n : at+n]
}

// index returns the slot of a context.
func (s *slots) index(context uintptr) int { return int(context-s.base) / stride }

// A head is what goes with a packet. Of the numbers it has the last bits.
type head struct {
	token    uint64
	number   uint32
	consumed uint32
	kind     uint32
}

// put writes a head to a message, whose token may go beside it.
func (s *slots) put(m []byte, h head) {
	binary.LittleEndian.PutUint32(m, h.number&0xffff|h.consumed<<16&0x3fff0000|h.kind<<30)
	if s.head == headSize {
		binary.LittleEndian.PutUint64(m[briefHead:], h.token)
	}
}

// parse reads the head of a message, beside which there may be a token.
func (s *slots) parse(m []byte, beside uint64) head {
	word := binary.LittleEndian.Uint32(m)
	if s.head == headSize {
		beside = binary.LittleEndian.Uint64(m[briefHead:])
	}
	return head{token: beside, number: word & 0xffff, consumed: word >> 16 & 0x3fff, kind: word >> 30}
}

// expand returns the number nearest to one that is known, of which the last bits are given.
func expand(known, last uint32, bits int) uint32 {
	shift := 32 - bits
	return known + uint32(int32((last-known)<<shift)>>shift)
}
