package fabric

import (
	"encoding/binary"

	"weft/fabric/internal/ofi"
	"weft/internal/mem"
)

// A message is a head and a packet.
//
//	bytes  head
//	0-7    the token that the receiver has given to the sender
//	8-11   the packet's number, counted from 0 for each receiver
//	12-15  how many packets of the receiver the sender has consumed
//	16-19  the sender's rank
//	20     the kind
const headSize = 24

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
}

const stride = ofi.ContextSize + headSize + mtu + 40 // a multiple of 64

func (s *slots) open(e *ofi.Endpoint) (err error) {
	s.receives = min(receives, e.Room)
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

// A head is what stands before a packet.
type head struct {
	token    uint64
	number   uint32
	consumed uint32
	rank     uint32
	kind     byte
}

func (h head) put(b []byte) {
	binary.LittleEndian.PutUint64(b, h.token)
	binary.LittleEndian.PutUint32(b[8:], h.number)
	binary.LittleEndian.PutUint32(b[12:], h.consumed)
	binary.LittleEndian.PutUint32(b[16:], h.rank)
	binary.LittleEndian.PutUint32(b[20:], uint32(h.kind))
}

func parseHead(b []byte) head {
	return head{
		token:    binary.LittleEndian.Uint64(b),
		number:   binary.LittleEndian.Uint32(b[8:]),
		consumed: binary.LittleEndian.Uint32(b[12:]),
		rank:     binary.LittleEndian.Uint32(b[16:]),
		kind:     b[20],
	}
}
