package weft

import "sync"

// maxSpare bounds, in bytes, the memory that a port keeps for later long messages.
const maxSpare = 16 << 20

// maxSpareBuffers bounds in how many pieces it keeps that memory.
const maxSpareBuffers = 8

// A big is memory for one long message.
type big struct {
	mem []byte
	use uint32 // how often it has been given back
}

// longBuffers are the memory of a port for messages of more than 32 KiB: for those that are
// received without a buffer of the program, and for drafts. Any goroutine may use it.
type longBuffers struct {
	mu    sync.Mutex
	spare []*big
}

// get returns memory for a message of n bytes.
func (l *longBuffers) get(n int) *big {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, b := range l.spare {
		if len(b.mem) >= n {
			l.spare = append(l.spare[:i], l.spare[i+1:]...)
			return b
		}
	}
	return &big{mem: make([]byte, n)}
}

// put takes memory back. Use is what b.use was when get returned it: if the memory has been
// given back since, put does nothing.
func (l *longBuffers) put(b *big, use uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.use != use {
		return
	}
	b.use++
	held := len(b.mem)
	for _, s := range l.spare {
		held += len(s.mem)
	}
	if held <= maxSpare && len(l.spare) < maxSpareBuffers {
		l.spare = append(l.spare, b)
	}
}

// lent reports whether memory has not been given back since get returned it.
func (l *longBuffers) lent(b *big, use uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return b.use == use
}
