package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"weft/internal/sys"
)

// File returns a copy of the listening socket, which the caller closes. A process hands it on to its successor
// (exec.Cmd.ExtraFiles), which calls FileListener; then it calls SetUnlinkOnClose(false) and Close, and ends when its
// connections have. Connections that no Accept has returned wait in the socket for the successor: none is lost.
func (l *Listener) File() (*os.File, error) { return l.sock.File() }

// FileListener listens at a socket that another process has made: a predecessor (Listener.File), or a supervisor such
// as systemd, whose first socket is os.NewFile(3, ""). address is the path, or the abstract name, at which clients
// dial.
// Close leaves the socket's file where it is, unless SetUnlinkOnClose says otherwise. f stays the caller's.
func (cfg *Config) FileListener(f *os.File, address string) (*Listener, error) {
	buffer, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	sock, ok := l.(*net.UnixListener)
	if !ok {
		l.Close()
		return nil, fmt.Errorf("stream: %s listens at a socket of %s: it must be a Unix socket", f.Name(), l.Addr().Network())
	}
	if err := sys.ListenAnew(sock, kernelBacklog); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	taken := &Listener{cfg: *cfg, buffer: buffer, path: address, sock: sock}
	if info, err := os.Lstat(address); err == nil && info.Mode().Type() == fs.ModeSocket {
		taken.file = info
	}
	return taken, nil
}

// kernelBacklog is how many connections may wait in the socket; the kernel takes less if its own limit is less.
const kernelBacklog = 4096

// ListenerStats are counters of a Listener.
type ListenerStats struct {
	Accepted uint64 // connections that Accept has returned
	Refused  uint64 // connections that Config.Allow has refused, or that ended before they could be accepted
}

// Stats returns the listener's counters. Any goroutine may call it.
func (l *Listener) Stats() ListenerStats {
	return ListenerStats{Accepted: l.accepted.Load(), Refused: l.refused.Load()}
}
