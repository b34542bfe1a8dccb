package stream

import (
	"net"
	"sync"
)

// A PlainConn is a connection of this host that goes over the Unix socket itself, because Config.Plain allows it and
// shared memory is not possible. It behaves as a *net.UnixConn does.
type PlainConn struct {
	net.Conn // a *net.UnixConn
	local    net.Addr
	remote   net.Addr
	metadata []byte // of the dialler; nil at its own end

	mu    sync.Mutex
	first []byte // what a client without this protocol has said first
}

// Read reads what has come, as that of net.UnixConn.
func (c *PlainConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	if len(c.first) > 0 {
		defer c.mu.Unlock()
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	c.mu.Unlock()
	return c.Conn.Read(b)
}

// CloseRead ends the reading direction, as that of net.UnixConn.
func (c *PlainConn) CloseRead() error { return c.Conn.(*net.UnixConn).CloseRead() }

// CloseWrite ends the writing direction, as that of net.UnixConn.
func (c *PlainConn) CloseWrite() error { return c.Conn.(*net.UnixConn).CloseWrite() }

// LocalAddr returns the address of this end, an [Addr].
func (c *PlainConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the peer's end, an [Addr] with its process.
func (c *PlainConn) RemoteAddr() net.Addr { return c.remote }

// Metadata returns what the dialler's context had (WithMetadata), on a connection that Accept has returned, and nil
// otherwise. The caller must not change it.
func (c *PlainConn) Metadata() []byte { return c.metadata }
