package fabric

import (
	"runtime"
	"slices"

	"weft/fabric/internal/ofi"
	"weft/internal/mem"
)

// A registry is the registrations of the program's memory from which it writes, and into which it reads: to register
// memory takes as long as to send a good part of it. It is the pin-down cache of PM and the table of VMMC-2. Memory of
// Go's heap stays registered, and pinned, until others need its place: the oldest is released first. Other memory may
// be unmapped at any time, so it is registered for one access.
type registry struct {
	entries  []*entry // the one used last comes last
	bytes    int
	found    uint64 // accesses whose memory was registered
	made     uint64
	released uint64 // registrations that others have taken the place of
}

// An entry is registered memory.
type entry struct {
	b          []byte
	registered *ofi.Registration
	pin        runtime.Pinner
	users      int
	kept       bool // in the registry
}

// Limits of a registry.
const (
	mostEntries = 256
	mostBytes   = 256 << 20
)

// fits reports whether so many bytes can be registered.
func (r *registry) fits(n int) bool { return n <= mostBytes }

// get returns the registration of b, for one access.
func (r *registry) get(end *ofi.Endpoint, b []byte) (*entry, error) {
	at := mem.Addr(b)
	for i, e := range slices.Backward(r.entries) {
		first := mem.Addr(e.b)
		if at >= first && at+uint64(len(b)) <= first+uint64(len(e.b)) {
			r.entries = append(slices.Delete(r.entries, i, i+1), e)
			r.found++
			e.users++
			return e, nil
		}
	}
	made, err := end.Register(b, ofi.Local)
	if err != nil {
		return nil, err
	}
	r.made++
	e := &entry{b: b, registered: made, users: 1}
	if e.kept = e.hold(); e.kept {
		r.entries = append(r.entries, e)
		r.bytes += len(b)
		r.trim()
	}
	return e, nil
}

// hold pins memory of Go's heap, and reports whether it is that.
func (e *entry) hold() (ok bool) {
	defer func() { ok = recover() == nil }()
	e.pin.Pin(&e.b[0])
	return true
}

// trim releases the oldest registrations that no access uses, as far as there are too many.
func (r *registry) trim() {
	for i := 0; i < len(r.entries) && (len(r.entries) > mostEntries || r.bytes > mostBytes); {
		e := r.entries[i]
		if e.users > 0 {
			i++
			continue
		}
		r.entries = slices.Delete(r.entries, i, i+1)
		r.bytes -= len(e.b)
		r.released++
		e.end()
	}
}

// put ends the use of a registration by an access; nil does nothing.
func (r *registry) put(e *entry) {
	if e == nil {
		return
	}
	e.users--
	if !e.kept {
		e.end()
	}
}

func (e *entry) end() {
	e.registered.Close()
	e.pin.Unpin()
}
