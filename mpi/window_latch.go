package mpi

import (
	"weft/internal/interleave"
	"weft/internal/mem"
)

// Latches are spin locks in the memory of a target: one for each member on its host, in a cache line that is that
// member's. An update of a few elements takes the latch of the member that carries it out, and uses atomic
// instructions: so those of several members go on at the same time. An update of an array takes all latches, in order,
// and uses plain instructions. What comes over the network the target carries out under its own latch.
//
// The latch of a member that has died is taken from it. That is safe, since elements are written whole.
type latches struct {
	memory []byte // the latch of each member of the communicator
	near   []int  // the members on the host, in order
	me     int    // this member
	self   uint64 // what stands in a latch that it holds: its rank in the job, plus 1
	gone   func(rank int) bool
}

const (
	latchBytes   = 64
	latchedBytes = 16 << 10 // are updated under the latches at a time
)

// lock takes this member's latch.
func (l *latches) lock() {
	for !l.try(l.me) {
		l.giveWay(l.me)
	}
}

func (l *latches) unlock() { l.drop(l.me) }

// lockAll takes all latches. It holds none when it gives way: giveWay needs the node, at which another goroutine may
// wait for one of them.
func (l *latches) lockAll() {
	for i := 0; i < len(l.near); i++ {
		if l.try(l.near[i]) {
			continue
		}
		for _, member := range l.near[:i] {
			l.drop(member)
		}
		l.giveWay(l.near[i])
		i = -1
	}
}

func (l *latches) unlockAll() {
	for _, member := range l.near {
		l.drop(member)
	}
}

// try tries to take a latch.
func (l *latches) try(member int) bool {
	for range interleave.Brief(mem.WordTries) {
		if mem.CompareAndSwap64(l.memory, member*latchBytes, 0, l.self) {
			return true
		}
	}
	return false
}

func (l *latches) drop(member int) { mem.UnlockWord(l.memory, member*latchBytes) }

func (l *latches) dead(holder uint64) bool { return l.gone(int(holder - 1)) }

// giveWay lets others run. It takes a latch from a member that has died.
func (l *latches) giveWay(member int) {
	if !mem.FreeWord(l.memory, member*latchBytes, l.self, l.dead) {
		interleave.Gosched()
		interleave.Yield()
	}
}

// update updates words of mapped memory, of which the latches are those.
func (l *latches) update(memory []byte, a *access, b []byte) {
	for off := 0; off < len(b); off += latchedBytes {
		to := memory[off:min(off+latchedBytes, len(b))]
		l.lockAll()
		if a.old != nil {
			copy(a.old[off:], to)
		}
		if a.kind != read {
			a.plain.apply(to, b[off:][:len(to)])
		}
		l.unlockAll()
	}
}
