package stream

import (
	"net"
	"sync"
)

// A backlog is the queue of connections that have been made and that Accept has not returned yet.
type backlog struct {
	most int // connections at a time

	mu     sync.Mutex
	change sync.Cond
	conns  []net.Conn
	failed error // the last that Accept has not returned yet
	closed bool
}

func (b *backlog) init(most int) {
	b.most = most
	b.change.L = &b.mu
}

// room waits until one more connection fits, or the backlog is closed.
func (b *backlog) room() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) >= b.most && !b.closed {
		b.change.Wait()
	}
}

// put appends a connection, and reports whether it did: a closed backlog takes none.
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

// full reports whether the backlog takes no connection now.
func (b *backlog) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns) >= b.most || b.closed
}

// fail makes accept return an error, once.
func (b *backlog) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
	b.change.Broadcast()
}

// accept waits for a connection, and removes it from the queue, or for an error. After close it returns neither.
func (b *backlog) accept() (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) == 0 && b.failed == nil && !b.closed {
		b.change.Wait()
	}
	if b.closed {
		return nil, nil
	}
	if len(b.conns) == 0 {
		err := b.failed
		b.failed = nil
		return nil, err
	}
	c := b.conns[0]
	b.conns[0] = nil
	b.conns = b.conns[1:]
	b.change.Broadcast()
	return c, nil
}

// close ends all waiting, and closes the connections in the queue. It reports whether the backlog
// was open until now.
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
