package web

import (
	"net"
	"sync"
)

// most is how many connections are open at a time. Further ones wait in the kernel, so that they take no descriptors
// from the launcher.
const most = 128

// A limited is a listener whose connections are at most as many as slots has room for.
type limited struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, n int) *limited {
	return &limited{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept waits until there is room for a connection, and for the connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close ends the listening.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A counted is a connection that makes room for another one when it is closed.
type counted struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}
