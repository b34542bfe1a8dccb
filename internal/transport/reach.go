package transport

import "context"

// A Reacher is a Transport that reads and writes the memory of peers by a device, without the help of their processors,
// though it cannot map it. Any goroutine may call its methods.
type Reacher interface {
	// Offer lets peers that know the key reach memory of this process under a number. It costs nothing until a peer
	// asks for it.
	Offer(region uint32, key uint64, b []byte, readOnly bool)

	// Retract takes an offer back. When it returns no peer reaches the memory any more. It may block for a short
	// time. A number that was not offered does nothing.
	Retract(region uint32)

	// Reach returns the memory that a peer offers under a number, or nil if it cannot be reached so. It asks the peer,
	// and may block for a short time.
	Reach(ctx context.Context, peer int, region uint32, key uint64) Window
}

// A Window is memory of a peer that this process reaches. Any goroutine may call its methods.
type Window interface {
	// Write writes b at an offset, and returns when the bytes are in place. If it returns false the bytes may or may not
	// have been written, and packets are to carry them: the peer has taken the memory back, or is gone. Bounds are the
	// caller's matter.
	Write(ctx context.Context, off int, b []byte) bool

	// Read reads into b from an offset. If it returns false b holds nothing that matters.
	Read(ctx context.Context, off int, b []byte) bool
}
