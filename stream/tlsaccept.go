package stream

import (
	"net"
)

// start begins to accept connections of l.sock, of which up to backlog wait for Accept.
func (l *TLSListener) start(backlog int) {
	l.served = make(chan struct{})
	l.backlog.init(backlog)
	l.door.Limit = 4 * backlog
	l.door.Handshake = l.welcome
	go func() {
		defer close(l.served)
		l.door.Serve(l.next)
	}()
}

// next accepts a connection for a handshake. While the backlog is full, further connections wait in
// the kernel's queue.
func (l *TLSListener) next() (net.Conn, error) {
	l.backlog.room()
	c, err := l.sock.Accept()
	if err != nil {
		l.backlog.fail(err) // such as EMFILE
	}
	return c, err
}

// Accept waits for the next connection whose handshake has succeeded, and returns it, a *TLSConn.
// After Close the error is net.ErrClosed. If a connection could not be
// accepted for want of descriptors or memory, the error is that of package net, and Accept may be called again.
func (l *TLSListener) Accept() (net.Conn, error) {
	c, err := l.backlog.accept()
	if c != nil || err != nil {
		return c, err
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
}

// Close ends the listening: it closes the socket, and closes the
// connections that Accept has not returned. Connections that Accept has returned stay open. Close waits
// for the handshakes that are running.
func (l *TLSListener) Close() error {
	if !l.backlog.close() {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	ledgers.remove(l.ledger)
	err := l.sock.Close()
	<-l.served
	return err
}

// Stats returns the listener's counters. Any goroutine may call it, also after Close.
func (l *TLSListener) Stats() Stats { return l.ledger.stats(0) }

// Addr returns the address at which the listener listens, a *net.TCPAddr.
func (l *TLSListener) Addr() net.Addr { return l.addr }
