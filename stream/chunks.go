package stream

import "sync"

// chunkBytes is the memory in which received bytes wait, as large as a ring is at first.
const chunkBytes = 16 << 10

// A chunk is a piece of a queue of bytes.
type chunk struct {
	next *chunk
	r, w int // what lies between is there
	b    [chunkBytes]byte
}

// chunkPool are chunks that no connection uses: a megabyte of them at most. One of package sync
// would not do, as one goroutine takes them and others give them back.
type chunkPool struct {
	mu   sync.Mutex
	free []*chunk
}

const mostFree = 1 << 20 / chunkBytes

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
	c.next, c.r, c.w = nil, 0, 0
	return c
}

func (p *chunkPool) put(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < mostFree {
		p.free = append(p.free, c)
	}
}

// A byteQueue is what a connection has received and nobody has read. It holds no memory
// while it is empty.
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

// peek returns the oldest bytes, as many as lie together.
func (q *byteQueue) peek() []byte {
	if q.first == nil {
		return nil
	}
	return q.first.b[q.first.r:q.first.w]
}

// drop takes the first n bytes of what peek has returned off the queue.
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
