package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"weft/internal/sys"
)

// A Listener is a net.Listener for connections between processes of this host. It takes diallers of this package, and
// every other program that can connect to its Unix socket, such as curl --unix-socket: their connections stay on the
// socket. Any number of goroutines may call its methods at the same time.
type Listener struct {
	sock   *net.UnixListener
	cfg    Config
	buffer int
	path   string
	file   fs.FileInfo // the socket's; nil for an abstract one
	unlink atomic.Bool // Close removes the file
	ledger *ledger
}

// listenPath listens at a Unix socket.
func (cfg *Config) listenPath(ctx context.Context, address string) (*Listener, error) {
	buffer, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	l := &Listener{cfg: *cfg, buffer: buffer, path: address}
	if strings.HasPrefix(address, "@") {
		var sock net.Listener
		if sock, err = new(net.ListenConfig).Listen(ctx, "unix", address); err == nil {
			l.sock = sock.(*net.UnixListener)
		}
	} else {
		l.sock, l.file, err = listenFile(address)
	}
	if err != nil {
		return nil, err
	}
	l.unlink.Store(l.file != nil)
	l.ledger = ledgers.listen("unix", address)
	return l, nil
}

// Accept waits for the next connection of a process that Config.Allow does not refuse, and returns it: a *Conn. After
// Close the error is net.ErrClosed. If a connection could not be accepted for want of descriptors or memory, the error
// is that of package net, and Accept may be called again.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		sock, err := l.sock.AcceptUnix()
		if err != nil {
			if err = bare(err); !errors.Is(err, net.ErrClosed) {
				l.ledger.note(err)
			}
			return nil, &net.OpError{Op: "accept", Net: "weft", Addr: l.Addr(), Err: err}
		}
		c, peer, err := l.admit(sock)
		if err == nil {
			return c, nil
		}
		sock.Close()
		if l.cfg.Refused != nil {
			l.cfg.Refused(peer, err)
		}
	}
}

// admit makes the listener's end of a connection from its socket.
func (l *Listener) admit(sock *net.UnixConn) (_ *Conn, peer Peer, err error) {
	if peer, err = credentials(sock); err != nil {
		l.ledger.note(err)
		return nil, peer, err
	}
	name := ""
	if at, ok := sock.RemoteAddr().(*net.UnixAddr); ok {
		name = at.Name
	}
	speaks, program := parseCaller(name)
	if err := l.cfg.allow(peer); err != nil {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
		l.ledger.note(err) // before the dialler knows
		if null, bad := os.Open(os.DevNull); bad == nil && speaks {
			_ = sys.SendMark(sock, stranger, int(null.Fd()))
			null.Close()
		}
		return nil, peer, err
	}
	c := newConn(sock, accepting, &l.cfg, Addr{Path: l.path}, Addr{l.path, peer})
	c.buffer = l.buffer
	c.early.image = program
	if !speaks {
		c.early.stage.Store(settled)
	}
	c.ledger = l.ledger
	c.ledger.enter(&c.tally)
	return c, peer, nil
}

// Stats returns the listener's counters. Any goroutine may call it, also after Close.
func (l *Listener) Stats() Stats { return l.ledger.stats(0) }

// Addr returns the address at which the listener listens, an [Addr].
func (l *Listener) Addr() net.Addr { return Addr{Path: l.path} }

// SetUnlinkOnClose says whether Close removes the file of the Unix socket, as it does unless it is told otherwise. A
// process that hands its path on to a successor sets it to false.
func (l *Listener) SetUnlinkOnClose(unlink bool) { l.unlink.Store(unlink && l.file != nil) }

// Close ends the listening: it closes the socket and removes its file. Connections that Accept has returned stay open.
// It leaves a file alone that another process has put in the place of its own.
func (l *Listener) Close() error {
	if l.unlink.Swap(false) && isFile(l.path, l.file) {
		_ = os.Remove(l.path) // it has just been removed, or Listen finds the leftover later
	}
	ledgers.remove(l.ledger)
	if err := l.sock.Close(); err != nil {
		return &net.OpError{Op: "close", Net: "weft", Addr: l.Addr(), Err: bare(err)}
	}
	return nil
}
