package ofi

import "unsafe"

// A rmaMessage is libfabric's description of a remote access (fi_msg_rma), with the lists that it points to.
type rmaMessage struct {
	local       *localPart
	desc        *uintptr
	localCount  uintptr
	addr        uint64
	remote      *remotePart
	remoteCount uintptr
	context     *byte
	data        uint64

	descs [1]uintptr
	here  [1]localPart
	there [1]remotePart
}

type localPart struct {
	at  *byte
	len uintptr
}

type remotePart struct{ at, len, key uint64 }

// A Window is registered memory of a peer: what its Registration says there.
type Window struct {
	Of      Addr
	At, Key uint64
}

// Write writes b to a peer's memory. The context comes back from Poll when the bytes are in place; until then b and the
// context belong to libfabric. R is the registration of b, where the provider needs one (Registers).
func (e *Endpoint) Write(w Window, off uint64, b []byte, r *Registration, context *byte) error {
	const (
		delivered = 1 << 28
		completes = 1 << 24
		writemsg  = 6
	)
	m := e.access
	m.here[0] = localPart{unsafe.SliceData(b), uintptr(len(b))}
	m.there[0] = remotePart{w.At + off, uint64(len(b)), w.Key}
	m.descs[0] = r.desc()
	m.local = &m.here[0]
	m.desc = &m.descs[0]
	m.remote = &m.there[0]
	m.localCount = 1
	m.remoteCount = 1
	m.addr = uint64(w.Of)
	m.context = context
	k := e.blk
	k.f = e.ep.rma[writemsg]
	k.args[0] = address(e.ep)
	k.args[1] = address(m)
	k.args[2] = delivered | completes
	err := e.said("fi_writemsg", e.stack.call(k))
	m.here[0].at = nil
	return err
}

// Read reads a peer's memory into b, as Write writes.
func (e *Endpoint) Read(w Window, off uint64, b []byte, r *Registration, context *byte) error {
	k := e.blk
	k.f = e.ep.rma[rmaRead]
	k.args = [8]uintptr{
		address(e.ep), address(unsafe.SliceData(b)), uintptr(len(b)), r.desc(), uintptr(w.Of), uintptr(w.At + off),
		uintptr(w.Key), address(context),
	}
	return e.said("fi_read", e.stack.call(k))
}
