package vmmc

import "encoding/binary"

// A kind is the type of a control message.
type kind uint8

// A request is answered by a reply with the same number; requests are answered in their order.
const (
	importing kind = 1 + iota // request: to import the export of this name
	cancelled                 // request: to forget the import with number n
	unimport                  // request: to end an import
	revoke                    // request: to forget an export, which has ended; the name is the reason
	data                      // request: to send n bytes to offset off of an export that can be redirected
	fence                     // request: to be answered when all earlier requests have been
	imported                  // reply to importing: the size n; the offset is 1 if it can be redirected
	ready                     // reply to data: the pieces may be sent
	done                      // reply to all requests but importing: they have been done
	kinds
)

// request reports whether it is a request.
func (k kind) request() bool { return k < imported }

// A status is the result in a reply.
type status uint8

const (
	fine status = iota
	refused
	gone // the export has ended
	outside
	aborted
)

// A frame is a control message, or, with kind 0, a notification.
type frame struct {
	kind   kind
	status status
	notify bool
	rank   uint32 // in a notification that the owner's endpoint forwards: the sender
	export uint32
	op     uint64
	off, n uint64
	name   []byte
}

const (
	frameSize = 40
	maxName   = 200
)

// put writes the frame to b, and returns the part of b that is to be sent.
func (f *frame) put(b *[frameSize + maxName]byte) []byte {
	clear(b[:4])
	b[0] = byte(f.kind)
	b[1] = byte(f.status)
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

// parse reads a frame that a peer has sent, and reports whether it is valid. The name aliases b.
func parse(b []byte) (f frame, ok bool) {
	if len(b) < frameSize || len(b) > frameSize+maxName || b[0] >= byte(kinds) || b[2] > 1 {
		return f, false
	}
	f = frame{
		kind: kind(b[0]), status: status(b[1]), notify: b[2] == 1,
		rank: binary.LittleEndian.Uint32(b[4:]), export: binary.LittleEndian.Uint32(b[8:]),
		op: binary.LittleEndian.Uint64(b[16:]), off: binary.LittleEndian.Uint64(b[24:]),
		n: binary.LittleEndian.Uint64(b[32:]), name: b[frameSize:],
	}
	return f, true
}
