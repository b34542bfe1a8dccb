package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"weft/internal/handshake"
)

// remote reports whether an address is a host and a port, and no path.
func remote(address string) bool {
	if strings.HasPrefix(address, "@") || strings.Contains(address, "/") {
		return false
	}
	_, _, err := net.SplitHostPort(address)
	return err == nil
}

// A TLSListener is a net.Listener for connections between hosts. Any number of goroutines
// may call its methods at the same time.
type TLSListener struct {
	secure  *tls.Config
	tcp     net.Listener
	door    handshake.Door
	backlog backlog
	served  chan struct{}
}

// listenTLS listens at a TCP port.
func (cfg *Config) listenTLS(ctx context.Context, address string) (*TLSListener, error) {
	secure, err := cfg.secure(roleListener, roleDialler)
	if err != nil {
		return nil, err
	}
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &TLSListener{secure: secure, tcp: tcp, served: make(chan struct{})}
	l.backlog.init(cfg.backlog())
	l.door.Most = 4 * cfg.backlog()
	l.door.Welcome = l.welcome
	go func() {
		defer close(l.served)
		l.door.Serve(l.next)
	}()
	return l, nil
}

// next accepts a connection for the door.
func (l *TLSListener) next() (net.Conn, error) {
	l.backlog.room()
	return l.tcp.Accept()
}

// welcome proves to one that has come who this is, has it prove the same, and queues the connection.
// There is a deadline until it is admitted.
func (l *TLSListener) welcome(v *handshake.Visit) error {
	c := newTLSConn(v.Conn.(*net.TCPConn), tls.Server, l.secure)
	if err := c.tls.Handshake(); err != nil {
		return err
	}
	if err := v.Admit(); err != nil {
		return err
	}
	if _, err := c.tls.Write([]byte{admitted}); err != nil {
		return err
	}
	c.begin()
	if !l.backlog.put(c) {
		return net.ErrClosed
	}
	return nil
}

// Accept waits for the next connection, a *TLSConn: its peer has proved who it is. After
// Close it returns an error that is net.ErrClosed.
func (l *TLSListener) Accept() (net.Conn, error) {
	if c := l.backlog.accept(); c != nil {
		return c, nil
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
}

// Close ends the listening. Connections that have been accepted stay; others are closed.
func (l *TLSListener) Close() error {
	if !l.backlog.close() {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	err := l.tcp.Close()
	<-l.served
	return err
}

// Addr returns the address, a *net.TCPAddr.
func (l *TLSListener) Addr() net.Addr { return l.tcp.Addr() }

// admitted is what a listener says first: in TLS 1.3 a client does not learn otherwise
// whether its certificate has been accepted.
const admitted = 1

// dialTLS connects to a TLSListener.
func (cfg *Config) dialTLS(ctx context.Context, address string) (*TLSConn, error) {
	secure, err := cfg.secure(roleDialler, roleListener)
	if err != nil {
		return nil, err
	}
	if secure.ServerName == "" {
		secure.ServerName, _, _ = net.SplitHostPort(address)
	}
	var c *TLSConn
	err = handshake.Greet(func() (cut bool, err error) {
		c, err = meetTLS(ctx, address, secure)
		return errors.Is(err, syscall.ECONNRESET) && ctx.Err() == nil, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// meetTLS tries once.
func meetTLS(ctx context.Context, address string, secure *tls.Config) (*TLSConn, error) {
	tcp, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := newTLSConn(tcp.(*net.TCPConn), tls.Client, secure)
	stop := handshake.Within(tcp, handshake.Timeout)
	ended := context.AfterFunc(ctx, func() { tcp.SetDeadline(longAgo) })
	var hello [1]byte
	if err = c.tls.Handshake(); err == nil {
		_, err = io.ReadFull(c.tls, hello[:])
	}
	if err == nil && hello[0] != admitted {
		err = fmt.Errorf("the listener says %d, not %d: is it one of weft's? %w", hello[0], admitted, ErrRefused)
	}
	if !ended() {
		err = context.Cause(ctx)
	}
	stop()
	if err != nil {
		tcp.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: tcp.RemoteAddr(), Err: refused(err)}
	}
	c.begin()
	return c, nil
}

// refused marks the errors of a handshake which say that the two do not go together.
func refused(err error) error {
	var remote *net.OpError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &remote) && remote.Op == "remote error" ||
		errors.As(err, &record) || errors.As(err, &certificate) || errors.Is(err, errStranger) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
