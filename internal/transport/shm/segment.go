package shm

import (
	"fmt"
	"sync/atomic"

	"weft/internal/mem"
	"weft/internal/ring"
)

// rings is how many peers of a process can have a ring of their own.
const rings = 16

// page is to what the parts of a segment are aligned, in bytes.
const page = 4096

// The layout of a segment. Words with different writers are on different
// cache lines.
const (
	offMagic  = 0
	offBell   = 128
	offBeat   = 256
	offAttend = offBeat + 8
	offClaims = 384
	offOwners = 512 // one line per ring
	offInbox  = page
	offRings  = (offInbox + ring.InboxBytes + page - 1) / page * page
	ringPitch = (ring.PairBytes + page - 1) / page * page

	segmentSize = offRings + rings*ringPitch

	segmentMagic = 0x7765667473686d01 // and the version of the layout
)

// A segment is the memory of one process that its peers write to.
type segment struct{ mem []byte }

// check returns an error unless the memory is a segment of our layout.
func (s segment) check() error {
	if len(s.mem) != segmentSize {
		return fmt.Errorf("weft: shm: the peer's segment has %d bytes, not %d: does it run another version of weft?",
			len(s.mem), segmentSize)
	}
	if m := s.word(offMagic).Load(); m != segmentMagic {
		return fmt.Errorf("weft: shm: the peer's segment begins with %#x, not %#x: does it run another version of weft?",
			m, uint64(segmentMagic))
	}
	return nil
}

func (s segment) word(off int) *atomic.Uint64 { return mem.Atomic64(s.mem, off) }

// bell is the doorbell of the segment's owner. Written by the owner and by
// peers that ring.
func (s segment) bell() *uint32 { return mem.Word32(s.mem, offBell) }

// beat is counted up by the owner as long as it runs.
func (s segment) beat() *atomic.Uint64 { return s.word(offBeat) }

// attends is not 0 while the owner polls.
func (s segment) attends() *atomic.Uint64 { return s.word(offAttend) }

// claims counts how often a ring has been claimed. Written by peers.
func (s segment) claims() *atomic.Uint64 { return s.word(offClaims) }

// owner is the rank that may write to a ring, plus 1; 0 if none may.
// Written by peers, to claim it, and by the segment's owner, to free it.
func (s segment) owner(i int) *atomic.Uint64 { return s.word(offOwners + 64*i) }

func (s segment) inbox() []byte { return s.mem[offInbox:][:ring.InboxBytes] }

func (s segment) ring(i int) []byte { return s.mem[offRings+i*ringPitch:][:ring.PairBytes] }
