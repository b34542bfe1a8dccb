package mem

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Publish64 writes the word at off with release semantics: other processors see it after
// all that was written before. Unlike Store64 it does not wait until they can see it, so
// what this goroutine reads afterwards may be older.
func Publish64(b []byte, off int, v uint64) { storeRelease(word(b, off), v) }

// A Latch is a spin lock for a few instructions. Its Unlock only publishes what was written
// under it; that of a sync.Mutex waits until other processors can see it.
type Latch struct{ word uint64 }

// Lock takes the latch.
func (l *Latch) Lock() {
	for !atomic.CompareAndSwapUint64(&l.word, 0, 1) {
		runtime.Gosched()
	}
}

// Unlock gives it back.
func (l *Latch) Unlock() { storeRelease(&l.word, 0) }

// LockWord takes a latch of several processes: the word at off, which is 0 while nobody has it, and else the holder's
// number. Now and then dead is asked about the holder. If it has died the latch is taken from it, so it must not matter
// where it was.
func LockWord(b []byte, off int, self uint64, dead func(holder uint64) bool) {
	for n := 1; !CompareAndSwap64(b, off, 0, self); n++ {
		if n%WordTries != 0 {
			continue
		}
		if !FreeWord(b, off, self, dead) {
			runtime.Gosched()
		}
	}
}

// FreeWord takes the latch of LockWord from its holder if that has died, and reports whether it has died.
func FreeWord(b []byte, off int, self uint64, dead func(holder uint64) bool) bool {
	holder := Load64(b, off)
	if holder == 0 || holder == self || !dead(holder) {
		return false
	}
	CompareAndSwap64(b, off, holder, 0)
	return true
}

// WordTries is how often a latch is tried before its holder is asked about.
const WordTries = 200

// UnlockWord gives the latch back.
func UnlockWord(b []byte, off int) { Publish64(b, off, 0) }

// Publish writes a word as Publish64 does.
func Publish(p *atomic.Uint64, v uint64) { storeRelease((*uint64)(unsafe.Pointer(p)), v) }
