package mem

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Publish64 writes the word at off. What was written before is seen before it, but
// unlike Store64 it does not wait until anybody can see it: what is read
// afterwards may be older.
func Publish64(b []byte, off int, v uint64) { storeRelease(word(b, off), v) }

// A Latch is a lock for a few instructions, whose Unlock does not wait as a
// sync.Mutex's does for what was written under it to be seen.
type Latch struct{ word uint64 }

// Lock takes the latch.
func (l *Latch) Lock() {
	for !atomic.CompareAndSwapUint64(&l.word, 0, 1) {
		runtime.Gosched()
	}
}

// Unlock gives it back.
func (l *Latch) Unlock() { storeRelease(&l.word, 0) }

// Publish writes a word as Publish64 does.
func Publish(p *atomic.Uint64, v uint64) { storeRelease((*uint64)(unsafe.Pointer(p)), v) }
