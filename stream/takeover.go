package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"weft/internal/sys"
)

// File returns a copy of the listening socket, which the caller closes. A process hands it on to its successor
// (exec.Cmd.ExtraFiles), which calls FileListener; then it calls SetUnlinkOnClose(false) and Close, and ends when its
// connections have. Connections that no Accept has returned wait in the socket for the successor: none is lost.
func (l *Listener) File() (*os.File, error) { return l.sock.File() }

// FileListener listens at a socket that another process has made: a predecessor (Listener.File), or a supervisor such
// as systemd (Config.Activated). address is the path, or the abstract name, at which clients dial; "" means the one
// that the socket itself has. Close leaves the socket's file where it is, unless SetUnlinkOnClose says otherwise. f
// stays the caller's.
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
	if address == "" {
		address = l.Addr().String()
	}
	taken := &Listener{cfg: *cfg, buffer: buffer, path: address, sock: sock, ledger: ledgers.listen("unix", address)}
	if info, err := os.Lstat(address); err == nil && info.Mode().Type() == fs.ModeSocket {
		taken.file = info
	}
	return taken, nil
}

// Activated returns listeners at the Unix sockets that systemd, or another supervisor with its protocol (LISTEN_FDS),
// has handed to this process, in the order of its unit. There are none if it has handed over none, or they have been
// returned before. With an error all other sockets are closed.
func (cfg *Config) Activated() (listeners []*Listener, err error) {
	pid := os.Getenv("LISTEN_PID")
	n, bad := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} { // they are not for children
		os.Unsetenv(name)
	}
	if pid != strconv.Itoa(os.Getpid()) || bad != nil {
		return nil, nil //nolint:nilerr // a number that is none hands nothing over
	}
	for fd := firstActivated; fd < firstActivated+n; fd++ {
		f := os.NewFile(uintptr(fd), "socket "+strconv.Itoa(fd))
		l, bad := cfg.FileListener(f, "")
		f.Close()
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		listeners = append(listeners, l)
	}
	if err != nil {
		for _, l := range listeners {
			l.Close()
		}
		return nil, err
	}
	return listeners, nil
}

// firstActivated is the descriptor of the first socket that a supervisor hands over.
const firstActivated = 3

// kernelBacklog is how many connections may wait in the socket; the kernel takes less if its own limit is less.
const kernelBacklog = 4096
