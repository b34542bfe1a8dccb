package vmmc

import "encoding/binary"

// A kind says what a control message is.
type kind uint8

// Requests are answered by a reply with the same number, in their order.
const (
	importing kind = 1 + iota // may I import the export of this name?
	cancelled                 // the import of that number is given up
	unimport                  // an import ends
	revoke                    // an export ends; the name is the reason
	data                      // may I send n bytes to off of an export that can be redirected?
	fence                     // has everything before been done?
	imported                  // reply: of n bytes; the offset is 1 if it can be redirected
	ready                     // reply to data: send the pieces
	done                      // reply
	kinds
)

// request reports whether a server handles it.
func (k kind) request() bool { return k < imported }

// A status is what a reply says.
type status uint8

const (
	fine status = iota
	refused
	gone // there is no such export any more
	outside
	aborted
)

// A frame is a control message, or with kind 0 a notification.
type frame struct {
	kind   kind
	status status
	notify bool
	rank   uint32 // notification: the sender, if the owner's endpoint forwards it
	export uint32
	op     uint64
	off, n uint64
	name   []byte
}

const (
	frameSize = 40
	maxName   = 200
)

// put writes the frame to b, which has room for it, and returns what is to be sent.
func (f *frame) put(b *[frameSize + maxName]byte) []byte {
	b[0], b[1], b[2], b[3] = byte(f.kind), byte(f.status), 0, 0
	if f.notify {
		b[2] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], f.rank)
	binary.LittleEndian.PutUint32(b[8:], f.export)
	binary.LittleEndian.PutUint32(b[12:], 0)
	binary.LittleEndian.PutUint64(b[16:], f.op)
	binary.LittleEndian.PutUint64(b[24:], f.off)
	binary.LittleEndian.PutUint64(b[32:], f.n)
	return b[:frameSize+copy(b[frameSize:], f.name)]
}

// parse reads a frame that a peer has sent, and reports whether it is one. The name lies in b.
func parse(b []byte) (f frame, ok bool) {
	if len(b) < frameSize || len(b) > frameSize+maxName || b[0] >= byte(kinds) || b[2] > 1 {
		return f, false
	}
	f = frame{
		kind: kind(b[0]), status: status(b[1]), notify: b[2] == 1,
		rank: binary.LittleEndian.Uint32(b[4:]), export: binary.LittleEndian.Uint32(b[8:]),
		op: binary.LittleEndian.Uint64(b[16:]), off: binary.LittleEndian.Uint64(b[24:]), n: binary.LittleEndian.Uint64(b[32:]),
		name: b[frameSize:],
	}
	return f, true
}
