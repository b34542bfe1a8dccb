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

// remote reports whether an address is a host and a port rather than a path.
func remote(address string) bool {
	if strings.HasPrefix(address, "@") || strings.Contains(address, "/") {
		return false
	}
	_, _, err := net.SplitHostPort(address)
	return err == nil
}

// A TLSListener is a net.Listener for connections between hosts: TLS 1.3 over TCP. The peer of every
// connection that Accept returns has been authenticated. Any number of goroutines may call its
// methods at the same time.
type TLSListener struct {
	addr    net.Addr
	refused func(Peer, error) // Config.Refused; nil if there is none
	ledger  *ledger
	sock    net.Listener
	secure  *tls.Config
	door    handshake.Acceptor // runs the handshakes of incoming connections, several at a time
	backlog backlog            // the connections whose handshakes have succeeded
	served  chan struct{}      // closed when the last handshake has ended
}

// listenTLS listens at a TCP port.
func (cfg *Config) listenTLS(ctx context.Context, address string) (*TLSListener, error) {
	secure, err := cfg.secure(roleListener, roleDialler)
	if err != nil {
		return nil, err
	}
	sock, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &TLSListener{secure: secure}
	l.sock = sock
	l.addr = sock.Addr()
	l.refused = cfg.Refused
	l.ledger = ledgers.listen("tcp", l.addr.String())
	l.start(cfg.backlog())
	return l, nil
}

// welcome runs the TLS handshake, in which both sides authenticate, and queues the connection for
// Accept. The connection has a deadline until Admit.
func (l *TLSListener) welcome(v *handshake.Attempt) error {
	err := l.try(v)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		err = &net.OpError{Op: "accept", Net: "tcp", Source: l.addr, Addr: v.Conn.RemoteAddr(), Err: refused(err)}
		l.ledger.note(err)
		if l.refused != nil {
			l.refused(Peer{}, err)
		}
	}
	return err
}

func (l *TLSListener) try(v *handshake.Attempt) error {
	c := newTLSConn(v.Conn.(*net.TCPConn), tls.Server, l.secure, l.ledger)
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
		l.ledger.leave(&c.tally)
		return net.ErrClosed
	}
	return nil
}

// admitted is the first byte that a listener sends after the handshake. Without it a TLS 1.3 client
// would not learn whether the server has accepted its certificate.
const admitted = 1

// dialTLS connects to a TLSListener. It tries again if the listener dropped the connection to make
// room for another handshake.
func (cfg *Config) dialTLS(ctx context.Context, address string) (*TLSConn, error) {
	secure, err := cfg.secure(roleDialler, roleListener)
	if err != nil {
		return nil, err
	}
	if secure.ServerName == "" {
		secure.ServerName, _, _ = net.SplitHostPort(address)
	}
	var c *TLSConn
	l := ledgers.dial("tcp", address)
	err = handshake.Retry(ctx.Done(), func() (cut bool, err error) {
		c, err = meetTLS(ctx, l, address, secure)
		cut = errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		return cut && ctx.Err() == nil, err
	})
	if err != nil {
		l.note(err)
		return nil, err
	}
	return c, nil
}

// meetTLS connects and runs the dialler's side of the handshake once.
func meetTLS(ctx context.Context, l *ledger, address string, secure *tls.Config) (*TLSConn, error) {
	tcp, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := newTLSConn(tcp.(*net.TCPConn), tls.Client, secure, l)
	stop := handshake.Within(tcp, handshake.Timeout)
	ended := context.AfterFunc(ctx, func() { tcp.SetDeadline(longAgo) })
	var hello [1]byte
	if err = c.tls.Handshake(); err == nil {
		_, err = io.ReadFull(c.tls, hello[:])
	}
	if err == nil && hello[0] != admitted {
		err = fmt.Errorf("the listener's first byte is %d, not %d: is it a weft listener? %w", hello[0], admitted, ErrRefused)
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

// refused makes an error of a handshake match ErrRefused if one side has rejected the other.
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
