package stream

import "sync"

// chunkBytes is the size of one piece of a byteQueue: as much as the ring of a Conn begins with.
const chunkBytes = 16 << 10

// A chunk is one piece of a byteQueue.
type chunk struct {
	next *chunk
	r, w int // b[r:w] has been received and not been read
	b    [chunkBytes]byte
}

// A chunkPool keeps up to a megabyte of chunks that no connection uses. A sync.Pool would not help:
// one goroutine takes chunks, and others give them back.
type chunkPool struct {
	mu   sync.Mutex
	free []*chunk
}

// mostFree is how many chunks a pool keeps.
const mostFree = 1 << 20 / chunkBytes

// get returns an empty chunk.
func (p *chunkPool) get() *chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return new(chunk)
	}
	c := p.free[n-1]
	p.free[n-1] = nil
	p.free = p.free[:n-1]
	c.next = nil
	c.r = 0
	c.w = 0
	return c
}

// put takes back a chunk that is no longer used.
func (p *chunkPool) put(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < mostFree {
		p.free = append(p.free, c)
	}
}

// A byteQueue holds the bytes that a connection has received and that no call has read. It holds no
// memory while it is empty.
type byteQueue struct {
	pool        *chunkPool
	first, last *chunk
}

// put appends a copy of b.
func (q *byteQueue) put(b []byte) {
	for len(b) > 0 {
		if q.last == nil || q.last.w == chunkBytes {
			c := q.pool.get()
			if q.last == nil {
				q.first = c
			} else {
				q.last.next = c
			}
			q.last = c
		}
		n := copy(q.last.b[q.last.w:], b)
		q.last.w += n
		b = b[n:]
	}
}

// peek returns the oldest bytes, as many as lie together in memory.
func (q *byteQueue) peek() []byte {
	if q.first == nil {
		return nil
	}
	return q.first.b[q.first.r:q.first.w]
}

// drop removes the first n of the bytes that peek has returned.
func (q *byteQueue) drop(n int) {
	c := q.first
	if c == nil || n == 0 {
		return
	}
	if c.r += n; c.r < c.w {
		return
	}
	if q.first = c.next; q.first == nil {
		q.last = nil
	}
	q.pool.put(c)
}
