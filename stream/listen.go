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

// A Listener is a net.Listener for connections through shared memory between processes of this host.
// Any number of goroutines may call its methods at the same time.
type Listener struct {
	acceptor
	cfg  Config
	path string
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
	l := &Listener{cfg: *cfg, path: address}
	l.network = "weft"
	l.addr = Addr{Path: address}
	l.start(sock, cfg.backlog(), l.welcome)
	return l, nil
}

// listen makes the socket, and replaces a socket file whose listener was killed.
//
// Between bind and listen a new socket looks like such a leftover. Therefore a process that listens
// holds the lock of the directory from bind until listen, and only a process that holds the lock
// removes a leftover. In a directory that cannot be locked nothing is removed.
func listen(ctx context.Context, path string) (net.Listener, error) {
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
	return l, err
}

// lock takes the lock of a directory, for which it waits at most a second. It returns nil if it
// could not take the lock.
func lock(ctx context.Context, dir string) (unlock func()) {
	for range 1000 {
		unlock, err := sys.LockDirectory(dir)
		if err == nil {
			return unlock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Millisecond) // another process is about to listen in this directory
	}
	return nil
}

// stale reports whether path is a socket at which no process listens.
func stale(ctx context.Context, path string) bool {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// welcome runs the handshake of one connection, and queues it for Accept.
func (l *Listener) welcome(v *handshake.Attempt) error {
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
