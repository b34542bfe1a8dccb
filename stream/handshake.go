package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// The handshake goes over the Unix socket, in records of 16 bytes (PROTOCOL §11):
//
//	dialler          listener
//	hello       ->   length of the metadata; with the metadata
//	            <-   answer: status, size of each ring; with the descriptor of the memory
//
// Each side first asks the kernel which process the other side is. After the handshake the socket
// carries one byte for each time that one side wakes the other. The end of the socket's stream means
// that the other process has closed the connection or has ended.

// recordBytes is the length of a record.
const recordBytes = 16

// magic begins each record. Its last byte is the version of the protocol.
var magic = [8]byte{'w', 'e', 'f', 't', 's', 't', 'r', 1}

// The status of an answer.
const (
	welcome  = 0 // the connection is made
	stranger = 1 // the dialler is not allowed
	wanting  = 2 // the listener has no memory or descriptor left: the second number is its errno
	plain    = 3 // the listener can make no memory: the connection is the socket itself
)

// takesPlain is in a hello, in the place of the buffer's size, if the dialler takes the socket itself.
const takesPlain = 1

// record returns a record. The dialler sends the length of its metadata as the status, and zero as the buffer.
func record(status, buffer uint32) []byte {
	b := append(make([]byte, 0, recordBytes), magic[:]...)
	b = binary.LittleEndian.AppendUint32(b, status)
	return binary.LittleEndian.AppendUint32(b, buffer)
}

// parseRecord reads a record.
func parseRecord(b []byte) (status, buffer uint32, err error) {
	if len(b) != recordBytes || [8]byte(b) != magic {
		return 0, 0, fmt.Errorf("the other side does not speak version %d of weft's streams: %w", magic[7], ErrRefused)
	}
	return binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), nil
}

// dialPath connects to the Listener at a Unix socket. It tries again if the listener dropped the
// connection to make room for another handshake.
func (cfg *Config) dialPath(ctx context.Context, address string) (net.Conn, error) {
	var c net.Conn
	err := handshake.Retry(ctx.Done(), func() (cut bool, err error) {
		c, cut, err = cfg.dial(ctx, address)
		return cut && ctx.Err() == nil, err
	})
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "weft", Addr: Addr{Path: address}, Err: err}
	}
	return c, nil
}

// dial tries once. cut reports that the listener has hung up, as it does when it has too many
// handshakes in progress.
func (cfg *Config) dial(ctx context.Context, address string) (_ net.Conn, cut bool, err error) {
	metadata, err := metadataOf(ctx)
	if err != nil {
		return nil, false, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, false, err
	}
	sock := conn.(*net.UnixConn)
	var c *Conn
	local := Addr{address, Peer{os.Getpid(), os.Geteuid()}}
	peer, memory, buffer, err := cfg.greet(ctx, sock, metadata)
	if err == nil && memory == nil {
		return &PlainConn{Conn: sock, local: local, remote: Addr{address, peer}}, false, nil
	}
	if err == nil {
		if c, err = newConn(sock, memory, buffer, true, cfg); err != nil {
			sys.Unmap(memory)
		}
	}
	if err != nil {
		sock.Close()
		return nil, errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE), err
	}
	c.local = local
	c.remote = Addr{address, peer}
	return c, false, nil
}

// greet runs the dialler's side of the handshake. There is no memory if the connection is the socket itself.
func (cfg *Config) greet(ctx context.Context, sock *net.UnixConn, metadata []byte) (
	peer Peer, memory []byte, buffer int, err error,
) {
	if peer, err = credentials(sock); err != nil {
		return peer, nil, 0, err
	}
	if err := cfg.allow(peer); err != nil {
		return peer, nil, 0, fmt.Errorf("this process does not allow the listener: %w: %w", err, ErrRefused)
	}
	stop := handshake.Within(sock, handshake.Timeout)
	ended := context.AfterFunc(ctx, func() { _ = sock.SetDeadline(longAgo) })
	var answer [recordBytes]byte
	n := 0
	fd := -1
	hello := append(record(uint32(len(metadata)), cfg.takes()), metadata...)
	if err = sys.SendFD(sock, hello, -1); err == nil || errors.Is(err, syscall.EPIPE) {
		n, fd, err = sys.RecvFD(sock, answer[:]) // a listener that refuses may answer and hang up before the hello
	}
	if !ended() {
		err = context.Cause(ctx)
	}
	stop()
	switch {
	case err == nil && cfg.Plain && bytes.Equal(answer[:n], record(plain, 0)):
		closeFD(fd)
	case err == nil:
		memory, buffer, err = accept(answer[:n], fd)
	default:
		closeFD(fd)
	}
	return peer, memory, buffer, err
}

// takes returns what a hello says of the socket itself.
func (cfg *Config) takes() uint32 {
	if cfg.Plain {
		return takesPlain
	}
	return 0
}

// closeFD closes a descriptor that came with a record, if one did.
func closeFD(fd int) {
	if fd >= 0 {
		sys.CloseFD(fd)
	}
}

// accept maps the memory whose descriptor came with an answer. It owns the descriptor.
func accept(answer []byte, fd int) (memory []byte, size int, err error) {
	status, buffer, err := parseRecord(answer)
	if err == nil {
		err = refusal(status, buffer)
	}
	if err == nil {
		err = checkBuffer(int(buffer))
	}
	switch {
	case err != nil:
		closeFD(fd)
		return nil, 0, err
	case fd < 0:
		return nil, 0, fmt.Errorf(
			"the memory did not arrive: has this process reached its limit of descriptors (ulimit -n)? %w", ErrRefused)
	}
	memory, err = sys.MapMemory(fd, false)
	if err == nil && len(memory) != memoryBytes(int(buffer)) {
		err = fmt.Errorf("the listener's memory has %d bytes for buffers of %d: %w", len(memory), buffer, ErrRefused)
		sys.Unmap(memory)
	}
	if err != nil {
		return nil, 0, err
	}
	return memory, int(buffer), nil
}

// refusal returns the error that the status of an answer stands for, or nil. number is the errno of a listener in want.
func refusal(status, number uint32) error {
	switch status {
	case welcome:
		return nil
	case stranger:
		return fmt.Errorf("the listener does not allow this process (its Config.Allow decides): %w", ErrRefused)
	case wanting:
		return fmt.Errorf("the listener cannot make the memory of a connection: %w: %w", syscall.Errno(number), ErrRefused)
	}
	return fmt.Errorf("the listener answers %d: %w", status, ErrRefused)
}

// credentials returns the process at the other end.
func credentials(sock *net.UnixConn) (Peer, error) {
	pid, uid, err := sys.Credentials(sock)
	return Peer{PID: pid, UID: uid}, err
}
