// Package sharedmem keeps the memory of a process that other processes of its host can map: regions, mailboxes, and
// what the program allocates for long messages. A table finds the segment in which a buffer lies, so that a peer to
// which the buffer is offered can map it. Tested in package weft, in memory_test.go and
// memory_mapped_linux_test.go.
package sharedmem

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/transport"
)

// A Segment is memory that peers on this host can map.
type Segment struct {
	*transport.Mapping
	ID uint32 // 0: ordinary memory, because no transport can share it
}

// A Table is the segments of a process. Any goroutine may use it.
type Table struct {
	// Memory makes memory that peers can map; nil if there is none. It is set before the first segment is made.
	Memory transport.Memory

	node     *driver.Node
	mu       sync.Mutex
	segments []Segment // by address
}

// NewTable returns the table of a node's process.
func NewTable(node *driver.Node) *Table { return &Table{node: node} }

// Share returns a new segment of n bytes, zeroed, which other ranks can only read if readOnly is set. It is ordinary
// memory if none can be shared.
func (t *Table) Share(n int, readOnly bool) (s Segment, err error) {
	if t.node.Closing() {
		return s, failure.ErrClosed
	}
	if t.Memory == nil {
		return t.Private(n)
	}
	s.ID, s.Mapping, err = t.Memory.Share(n, readOnly)
	switch {
	case errors.Is(err, transport.ErrNoMemory):
		return t.Private(n)
	case err == nil:
		t.add(s)
	}
	return s, err
}

// Private is Share for memory that no other process can map. It makes no more than the host has: Go ends a process that
// asks the kernel for what that refuses.
func (t *Table) Private(n int) (Segment, error) {
	if most := sys.Memory(); uint64(n) > most {
		return Segment{}, fmt.Errorf("weft: memory of %d bytes: this host has %d", n, most)
	}
	s := Segment{Mapping: transport.NewMapping(mem.Aligned((n+4095)&^4095), false, nil)}
	t.add(s)
	return s, nil
}

func (t *Table) add(s Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.segments = slices.Insert(t.segments, t.after(mem.Addr(s.Bytes)), s)
	t.count()
}

// Drop takes a segment back. Goroutines that are using it at that moment do not fault.
func (t *Table) Drop(s Segment) error {
	t.mu.Lock()
	if i := t.find(s.Bytes); i >= 0 {
		t.segments = slices.Delete(t.segments, i, i+1)
		t.count()
	}
	t.mu.Unlock()
	if t.node.Closing() {
		return failure.ErrClosed // the transport takes it when it is closed
	}
	if s.ID == 0 {
		s.Retire()
		return nil
	}
	return t.Memory.Unshare(s.ID)
}

// Starting returns the segment whose first bytes are b.
func (t *Table) Starting(b []byte) (s Segment, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(b); i >= 0 && mem.Addr(t.segments[i].Bytes) == mem.Addr(b) {
		return t.segments[i], true
	}
	return s, false
}

// Offer returns where b lies, for the peer that it is offered to: a segment and an offset in it, which the peer may map
// and read from now on, or id 0 and an address. In a simulation, where no rank reads by address, that is 0: real ones
// would make each run another one.
func (t *Table) Offer(to int, b []byte) (id uint32, addr uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(b); i >= 0 && t.segments[i].ID != 0 {
		t.Memory.Grant(t.segments[i].ID, to)
		return t.segments[i].ID, mem.Addr(b) - mem.Addr(t.segments[i].Bytes)
	}
	if t.node.Hosted() {
		return 0, 0
	}
	return 0, mem.Addr(b)
}

// Mapping returns the memory of the segment of that number, or nil.
func (t *Table) Mapping(id uint32) *transport.Mapping {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.segments {
		if id != 0 && s.ID == id {
			return s.Mapping
		}
	}
	return nil
}

// Held returns how many bytes all segments have.
func (t *Table) Held() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held()
}

func (t *Table) held() (bytes uint64) {
	for _, s := range t.segments {
		bytes += uint64(len(s.Bytes))
	}
	return bytes
}

// count puts into the node's counters how much memory the program has been given. t.mu is held.
func (t *Table) count() { t.node.Hold(t.held()) }

// find returns the index of the segment that b lies in, or -1. t.mu is held.
func (t *Table) find(b []byte) int {
	at := mem.Addr(b)
	i := t.after(at) - 1
	if i >= 0 && at+uint64(len(b)) <= mem.Addr(t.segments[i].Bytes)+uint64(len(t.segments[i].Bytes)) {
		return i
	}
	return -1
}

// after returns the index of the first segment whose address is greater than at. t.mu is held.
func (t *Table) after(at uint64) int {
	return sort.Search(len(t.segments), func(i int) bool { return mem.Addr(t.segments[i].Bytes) > at })
}
