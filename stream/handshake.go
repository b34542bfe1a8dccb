package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// A dialler says what it is by the name of its own socket, which a listener learns when it accepts the connection, and
// which means nothing to a program without weft: callerName, the number of its program, and 16 random digits. So there
// is no handshake (PROTOCOL §11).
const (
	callerName  = "@weft-stream-6-" // its digit is the version of the protocol
	callerBytes = len(callerName) + 16 + 16
)

// image is a random number that a program has from its start to its end, in 16 digits. A listener never lets
// connections of two programs share memory (debtor).
var image = sync.OnceValue(randomDigits)

func randomDigits() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// newCaller returns a name for a dialler.
func newCaller() string { return callerName + image() + randomDigits() }

// parseCaller reads the name of a dialler, and reports whether it speaks this protocol, and which program it is.
func parseCaller(name string) (speaks bool, program uint64) {
	if len(name) != callerBytes || !strings.HasPrefix(name, callerName) {
		return false, 0
	}
	program, err := strconv.ParseUint(name[len(callerName):][:16], 16, 64)
	return err == nil, program
}

// errStrange is what a dialler reads if the listener refuses it.
var errStrange = fmt.Errorf("the listener does not allow this process (its Config.Allow decides): %w", ErrRefused)

// dialPath connects to the listener at a Unix socket. While the kernel's queue of that socket is full it tries again.
func (cfg *Config) dialPath(ctx context.Context, address string) (net.Conn, error) {
	var c *Conn
	l := ledgers.dial("unix", address)
	err := handshake.Retry(ctx.Done(), func() (again bool, err error) {
		c, again, err = cfg.dial(ctx, l, address)
		return again && ctx.Err() == nil, err
	})
	if err != nil {
		l.note(err)
		return nil, &net.OpError{Op: "dial", Net: "weft", Addr: Addr{Path: address}, Err: err}
	}
	l.enter(&c.tally)
	return c, nil
}

// dial tries once, and says if it would be of use to try again.
func (cfg *Config) dial(ctx context.Context, l *ledger, address string) (_ *Conn, again bool, err error) {
	d := net.Dialer{LocalAddr: unixAddr(newCaller())}
	conn, err := d.DialContext(ctx, "unix", address)
	if named := new(os.SyscallError); errors.As(err, &named) && named.Syscall == "bind" &&
		!errors.Is(err, syscall.EADDRINUSE) { // a sandbox forbids names: the connection stays on its socket
		conn, err = new(net.Dialer).DialContext(ctx, "unix", address)
	}
	if err != nil {
		return nil, errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EADDRINUSE), bare(err)
	}
	c, err := cfg.meet(conn.(*net.UnixConn), l, address)
	if err != nil {
		conn.Close()
		return nil, false, err
	}
	return c, false, nil
}

// meet makes the dialler's end of a connection from its socket.
func (cfg *Config) meet(sock *net.UnixConn, l *ledger, address string) (*Conn, error) {
	peer, err := credentials(sock)
	if err != nil {
		return nil, err
	}
	if err := cfg.allow(peer); err != nil {
		return nil, fmt.Errorf("this process does not allow the listener: %w: %w", err, ErrRefused)
	}
	c := newConn(sock, dialling, cfg, Addr{address, Peer{self, os.Geteuid()}}, Addr{address, peer})
	c.ledger = l
	if c.early.raw, err = sock.SyscallConn(); err != nil {
		return nil, err
	}
	c.early.receive = c.receiveInto
	return c, nil
}

// self is the number of this process.
var self = os.Getpid()

// credentials returns the process at the other end.
func credentials(sock *net.UnixConn) (Peer, error) {
	pid, uid, err := sys.Credentials(sock)
	return Peer{PID: pid, UID: uid}, err
}
