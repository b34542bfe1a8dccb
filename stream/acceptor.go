package stream

import (
	"net"

	"weft/internal/handshake"
)

// An acceptor is what the listeners for paths and for TLS have in common. It runs the handshakes of
// incoming connections, several at a time. Connections that succeed wait in its queue for Accept.
type acceptor struct {
	network string // in errors: "weft" or "tcp"
	addr    net.Addr
	sock    net.Listener
	door    handshake.Acceptor
	backlog backlog
	served  chan struct{} // closed when the last handshake has ended
}

// start begins to accept connections of a.sock, of which up to backlog wait for Accept. welcome runs
// the handshake of one connection and, if it succeeds, queues it.
func (a *acceptor) start(backlog int, welcome func(*handshake.Attempt) error) {
	a.served = make(chan struct{})
	a.backlog.init(backlog)
	a.door.Limit = 4 * backlog
	a.door.Handshake = welcome
	go func() {
		defer close(a.served)
		a.door.Serve(a.next)
	}()
}

// next accepts a connection for a handshake. While the backlog is full, further connections wait in
// the kernel's queue.
func (a *acceptor) next() (net.Conn, error) {
	a.backlog.room()
	c, err := a.sock.Accept()
	if err != nil {
		a.backlog.fail(err) // such as EMFILE
	}
	return c, err
}

// Accept waits for the next connection whose handshake has succeeded, and returns it: a *Conn from a
// [Listener], a *TLSConn from a [TLSListener]. After Close the error is net.ErrClosed. If a connection could not be
// accepted for want of descriptors or memory, the error is that of package net, and Accept may be called again.
func (a *acceptor) Accept() (net.Conn, error) {
	c, err := a.backlog.accept()
	if c != nil || err != nil {
		return c, err
	}
	return nil, &net.OpError{Op: "accept", Net: a.network, Addr: a.addr, Err: net.ErrClosed}
}

// Close ends the listening: it closes the socket, and closes the
// connections that Accept has not returned. Connections that Accept has returned stay open. Close waits
// for the handshakes that are running.
func (a *acceptor) Close() error {
	if !a.backlog.close() {
		return &net.OpError{Op: "close", Net: a.network, Addr: a.addr, Err: net.ErrClosed}
	}
	err := a.sock.Close()
	<-a.served
	return err
}

// Addr returns the address at which the listener listens: an [Addr] for a [Listener], a *net.TCPAddr
// for a [TLSListener].
func (a *acceptor) Addr() net.Addr { return a.addr }
