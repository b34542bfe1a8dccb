package stream

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// A Listener is a net.Listener for connections through shared memory between processes of this host.
// Any number of goroutines may call its methods at the same time.
type Listener struct {
	acceptor
	cfg    Config
	path   string
	file   fs.FileInfo // the socket's; nil for an abstract one
	unlink atomic.Bool // Close removes the file
}

// listenPath listens at a Unix socket.
func (cfg *Config) listenPath(ctx context.Context, address string) (*Listener, error) {
	buffer, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	if err := tryMemory(buffer); err != nil && !cfg.Plain {
		return nil, &net.OpError{Op: "listen", Net: "weft", Addr: Addr{Path: address}, Err: err}
	}
	l := &Listener{cfg: *cfg, path: address}
	l.network = "weft"
	l.addr = Addr{Path: address}
	if strings.HasPrefix(address, "@") {
		l.sock, err = new(net.ListenConfig).Listen(ctx, "unix", address)
	} else {
		l.sock, l.file, err = listenFile(address)
	}
	if err != nil {
		return nil, err
	}
	l.unlink.Store(l.file != nil)
	l.start(cfg.backlog(), l.welcome)
	return l, nil
}

// tryMemory makes the memory of a connection once, so that a process that cannot is told when it begins to listen.
func tryMemory(buffer int) error {
	fd, memory, err := sys.NewMemory("weft stream", memoryBytes(buffer), false)
	if err != nil {
		return fmt.Errorf("no memory for a connection: %w", err)
	}
	sys.Unmap(memory)
	sys.CloseFD(fd)
	return nil
}

// SetUnlinkOnClose says whether Close removes the file of the Unix socket, as it does unless it is told otherwise. A
// process that hands its path on to a successor sets it to false.
func (l *Listener) SetUnlinkOnClose(unlink bool) { l.unlink.Store(unlink && l.file != nil) }

// Close ends the listening: it closes the socket, removes its file, and closes the connections that Accept has not
// returned. Connections that Accept has returned stay open. Close waits for the handshakes that are running. It leaves
// a file alone that another process has put in the place of its own.
func (l *Listener) Close() error {
	if l.unlink.Swap(false) && isFile(l.path, l.file) {
		_ = os.Remove(l.path) // it has just been removed, or Listen finds the leftover later
	}
	return l.acceptor.Close()
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
