package stream

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// A Listener is a net.Listener for connections through shared memory. Any number of
// goroutines may call its methods at the same time.
type Listener struct {
	cfg  Config
	sock *net.UnixListener
	path string
	door handshake.Door

	backlog backlog
	served  chan struct{}
}

// listenPath listens at a Unix socket.
func (cfg *Config) listenPath(ctx context.Context, address string) (*Listener, error) {
	if _, err := cfg.buffer(); err != nil {
		return nil, err
	}
	sock, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	l := &Listener{cfg: *cfg, sock: sock, path: address, served: make(chan struct{})}
	l.backlog.init(cfg.backlog())
	l.door.Most = 4 * cfg.backlog()
	l.door.Welcome = l.welcome
	go func() {
		defer close(l.served)
		l.door.Serve(l.next)
	}()
	return l, nil
}

// listen makes the socket. Between its binding and its listening a socket looks like one
// that was left behind, so whoever listens has the lock of the directory meanwhile, and only
// who has it takes a file away. A directory that cannot be locked is left as it is.
func listen(ctx context.Context, path string) (*net.UnixListener, error) {
	var lc net.ListenConfig
	locked := false
	if !strings.HasPrefix(path, "@") {
		if unlock := lock(ctx, filepath.Dir(path)); unlock != nil {
			defer unlock()
			locked = true
		}
	}
	l, err := lc.Listen(ctx, "unix", path)
	if locked && errors.Is(err, syscall.EADDRINUSE) && stale(ctx, path) && syscall.Unlink(path) == nil {
		l, err = lc.Listen(ctx, "unix", path)
	}
	if err != nil {
		return nil, err
	}
	return l.(*net.UnixListener), nil
}

// lock takes the lock of a directory, for which it waits a second at most.
func lock(ctx context.Context, dir string) (unlock func()) {
	for range 1000 {
		unlock, err := sys.LockDirectory(dir)
		if err == nil {
			return unlock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Millisecond) // somebody is about to listen
	}
	return nil
}

// stale reports whether a socket lies at a path where nobody listens.
func stale(ctx context.Context, path string) bool {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// next accepts a connection for the door. While the backlog is full others wait in the kernel's.
func (l *Listener) next() (net.Conn, error) {
	l.backlog.room()
	c, err := l.sock.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// welcome meets one that has come, and queues the connection.
func (l *Listener) welcome(v *handshake.Visit) error {
	c, err := l.cfg.welcome(v.Conn.(*net.UnixConn), l.path, v.Admit)
	if err != nil {
		return err
	}
	if !l.backlog.put(c) {
		c.Close()
		return net.ErrClosed
	}
	return nil
}

// Accept waits for the next connection, a *Conn. After Close it returns an error that is
// net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	if c := l.backlog.accept(); c != nil {
		return c, nil
	}
	return nil, &net.OpError{Op: "accept", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
}

// Close ends the listening and takes the socket's file away. Connections that have been
// accepted stay; others are closed.
func (l *Listener) Close() error {
	if !l.backlog.close() {
		return &net.OpError{Op: "close", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
	}
	err := l.sock.Close()
	<-l.served
	return err
}

// Addr returns the address, an Addr.
func (l *Listener) Addr() net.Addr { return Addr{Path: l.path} }
