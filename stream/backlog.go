package stream

import (
	"net"
	"sync"
)

// A backlog holds connections that have been made and not been accepted.
type backlog struct {
	most int

	mu     sync.Mutex
	change sync.Cond
	conns  []net.Conn
	closed bool
}

func (b *backlog) init(most int) {
	b.most = most
	b.change.L = &b.mu
}

// room waits until there is room for one more, or the backlog is closed.
func (b *backlog) room() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) >= b.most && !b.closed {
		b.change.Wait()
	}
}

// put appends a connection, and reports whether it could: the backlog takes none when it
// is closed.
func (b *backlog) put(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.conns = append(b.conns, c)
	b.change.Broadcast()
	return true
}

// full reports whether there is no room.
func (b *backlog) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns) >= b.most || b.closed
}

// accept waits for a connection, and takes it. After close it returns nil.
func (b *backlog) accept() net.Conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) == 0 && !b.closed {
		b.change.Wait()
	}
	if b.closed {
		return nil
	}
	c := b.conns[0]
	b.conns[0] = nil
	b.conns = b.conns[1:]
	b.change.Broadcast()
	return c
}

// close ends all waiting, and closes the connections that nobody has accepted. It reports
// whether the backlog was open.
func (b *backlog) close() bool {
	b.mu.Lock()
	open := !b.closed
	b.closed = true
	conns := b.conns
	b.conns = nil
	b.change.Broadcast()
	b.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	return open
}
