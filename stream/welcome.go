package stream

import (
	"bytes"
	"errors"
	"net"
	"syscall"

	"weft/internal/sys"
)

// welcome runs the listener's side of the handshake. The socket has a deadline until admit, after
// which the connection is no longer dropped for others.
func (cfg *Config) welcome(sock *net.UnixConn, path string, admit func() error) (net.Conn, error) {
	peer, err := credentials(sock)
	if err != nil {
		return nil, err
	}
	if err := cfg.allow(peer); err != nil {
		_ = sys.SendFD(sock, record(stranger, 0), -1)
		return nil, err
	}
	said, hello, err := hear(sock)
	if err != nil {
		return nil, err
	}
	itself := &PlainConn{Conn: sock, local: Addr{Path: path}, remote: Addr{path, peer}}
	if cfg.Plain && !hello {
		itself.first = said
		return itself, admit()
	}
	length, takes, err := parseRecord(said)
	if err != nil {
		return nil, err
	}
	if itself.metadata, err = readBytes(sock, int(min(length, MaxMetadata+1))); err != nil {
		return nil, err
	}
	if err := admit(); err != nil {
		return nil, err
	}
	return cfg.share(itself, sock, takes == takesPlain)
}

// hear reads what a client says first: a whole hello, or less than one that is none.
func hear(sock *net.UnixConn) (said []byte, hello bool, err error) {
	b := make([]byte, recordBytes)
	for n := 0; n < len(b); {
		k, err := sock.Read(b[n:])
		n += k
		if known := min(n, len(magic)); n > 0 && !bytes.Equal(b[:known], magic[:known]) {
			return b[:n], false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return b, true, nil
}

// share makes the memory of a connection, and sends it to the dialler. Where it can make none, and both sides agree,
// the connection is the socket itself.
func (cfg *Config) share(itself *PlainConn, sock *net.UnixConn, takes bool) (net.Conn, error) {
	buffer, err := cfg.buffer()
	if err != nil {
		return nil, err
	}
	fd, memory, err := sys.NewMemory("weft stream", memoryBytes(buffer), false)
	switch {
	case err != nil && cfg.Plain && takes:
		return itself, sys.SendFD(sock, record(plain, 0), -1)
	case err != nil:
		var number syscall.Errno
		_ = errors.As(err, &number)
		_ = sys.SendFD(sock, record(wanting, uint32(number)), -1)
		return nil, err
	}
	c, err := newConn(sock, memory, buffer, false, cfg)
	if err == nil {
		err = sys.SendFD(sock, record(welcome, uint32(buffer)), fd)
	}
	sys.CloseFD(fd)
	if err != nil {
		sys.Unmap(memory)
		return nil, err
	}
	c.metadata = itself.metadata
	c.local = itself.local
	c.remote = itself.remote
	return c, nil
}
