package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"weft/internal/ring"
)

// Limits of a Config.
const (
	MinBuffer = 16 << 10 // the least Config.Buffer, in bytes
	MaxBuffer = 64 << 20 // the greatest Config.Buffer, in bytes

	defaultBuffer  = 256 << 10
	defaultSpin    = 20 * time.Microsecond
	defaultNap     = 5 * time.Millisecond // longer than most kernels' tick; see Config.Nap
	defaultBacklog = 128
)

// A Config says how connections are made and how calls on them wait. The zero value means the
// defaults, which the functions Listen, Dial and Open use. Any number of goroutines may use a Config
// at the same time; none may change it meanwhile.
type Config struct {
	// Spin is the longest time for which a call that must wait polls before it sleeps, on connections
	// through shared memory. Zero means 20 microseconds, or no polling if both processes may use only one
	// and the same processor. A connection on which polling has been in vain polls for a shorter time. A negative
	// value means that calls never poll.
	Spin time.Duration

	// Nap is the longest time for which a call that has polled in vain sleeps on the doorbell's futex before it
	// sleeps in Go's netpoller, on connections through shared memory. A futex wakes the call in half the time, but
	// the call holds a thread meanwhile. The number of goroutines that nap at the same time is at most GOMAXPROCS
	// less one. No goroutine naps while other goroutines could run, and a goroutine whose naps have been in vain
	// naps seldom. The end of the peer's process ends a nap only when this time is over. Zero means 5
	// milliseconds, and a negative value that calls never nap. Naps should be longer than a tick of the kernel's
	// clock, 4 milliseconds on many systems: for a shorter nap the kernel sets a timer, which on a virtual machine
	// can take longer than the wake-up.
	Nap time.Duration

	// Buffer is the greatest number of bytes that each direction of a connection holds: a power of two
	// from MinBuffer to MaxBuffer. Zero means 256 KiB. Between processes the listener's value
	// counts. A direction begins with 16 KiB, and grows when it has been full.
	Buffer int

	// Backlog is the number of connections between hosts that may wait for Accept; further connections wait in the
	// kernel's queue, as all connections of one host do. Zero and negative values mean 128.
	Backlog int

	// TLS is the configuration of connections between hosts: certificates, authorities, and what else
	// crypto/tls has. Versions below 1.3 are never used. A listener that is to authenticate its clients
	// sets ClientAuth. TLS must be nil if Key is set.
	TLS *tls.Config

	// Key is a secret that both sides of a connection between hosts know, in the place of certificates:
	// MinKey random bytes or more. Each side proves to the other that it knows Key. Each connection
	// has encryption keys of its own, with forward secrecy: Key does not reveal them later.
	Key []byte

	// Allow returns an error for a process that is to be refused, on connections of one host.
	// Nil allows processes of the same user and of root. Several goroutines may call Allow at once.
	Allow func(Peer) error

	// Refused, if it is set, is called by a [Listener]'s Accept for each connection that it does not return, with the
	// reason: that of Allow, which matches ErrRefused, or an error of the kernel; and by a [TLSListener] for each
	// handshake that has failed, where the Peer is zero and the reason a *net.OpError with the other side's address. It
	// should not block.
	Refused func(Peer, error)
}

// A Peer is the process at the other end of a connection of one host, as the kernel knows it.
type Peer struct {
	PID int `json:"pid"` // the process that called Dial, or Listen; 0 if it is in a PID namespace that this one cannot see
	UID int `json:"uid"` // its effective user then; -1 if it may be one that this process's user namespace does not know
}

// Listen is Config.Listen with the zero Config.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return new(Config).Listen(ctx, address)
}

// Dial is Config.Dial with the zero Config. For net/http it is wrapped as
//
//	DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return stream.Dial(ctx, path) }
func Dial(ctx context.Context, address string) (net.Conn, error) {
	return new(Config).Dial(ctx, address)
}

// Listen listens at an address. The form of the address decides the kind of the connections:
//
//   - A path, or a name in Linux's abstract namespace, which begins with @, is for processes of this
//     host. Listen makes a Unix socket there, over which the processes meet; the result is a
//     *Listener. A process can connect if it may write to the socket's file and Config.Allow does not
//     refuse it. Listen replaces a socket file that was left by a process that was killed.
//   - A host and a port, host:port, without a slash, is for other hosts: TLS over TCP, as Config.TLS
//     or Config.Key says. If both are nil the error is ErrInsecure. The result is a *TLSListener.
//
// ctx counts only until Listen returns.
func (cfg *Config) Listen(ctx context.Context, address string) (net.Listener, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if remote(address) {
		return asListener(cfg.listenTLS(ctx, address))
	}
	return asListener(cfg.listenPath(ctx, address))
}

// Dial connects to the listener at an address, which has one of the forms that Listen describes: the
// connection is a *Conn or a *TLSConn. After Dial has returned, ctx does not affect the connection.
//
// On one host Dial does not wait for the listener's Accept, as with a Unix socket. If this side does not allow the
// listener, the error is ErrRefused. If the listener does not allow this process, that is the error of the first Read,
// or of a Write. The listener may be any program that listens at a Unix socket; the connection then stays on that
// socket. Between hosts Dial waits until the listener has admitted the connection, for ten seconds at most, or until
// ctx ends.
func (cfg *Config) Dial(ctx context.Context, address string) (net.Conn, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if remote(address) {
		return asConn(cfg.dialTLS(ctx, address))
	}
	return asConn(cfg.dialPath(ctx, address))
}

// asListener returns l as a net.Listener, which is nil if there is an error: a nil pointer in an
// interface would not be.
func asListener[L net.Listener](l L, err error) (net.Listener, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// asConn is asListener for connections.
func asConn[C net.Conn](c C, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// spin returns how long a call polls at most.
func (cfg *Config) spin() time.Duration {
	if cfg.Spin == 0 {
		return defaultSpin
	}
	return max(cfg.Spin, 0)
}

// nap returns how long a call naps at most.
func (cfg *Config) nap() time.Duration {
	if cfg.Nap == 0 {
		return defaultNap
	}
	return max(cfg.Nap, 0)
}

// backlog returns how many connections may wait for Accept.
func (cfg *Config) backlog() int {
	if cfg.Backlog <= 0 {
		return defaultBacklog
	}
	return cfg.Backlog
}

// buffer returns the size of the ring of each direction, in bytes.
func (cfg *Config) buffer() (int, error) {
	n := cfg.Buffer
	if n == 0 {
		n = defaultBuffer
	}
	if err := checkBuffer(n); err != nil {
		return 0, err
	}
	return n, nil
}

func checkBuffer(n int) error {
	if n < MinBuffer || n > MaxBuffer || n&(n-1) != 0 {
		return fmt.Errorf("stream: a buffer of %d bytes: it must be a power of two from %d to %d", n, MinBuffer, MaxBuffer)
	}
	return nil
}

// allow applies the access policy of this process to a peer.
func (cfg *Config) allow(p Peer) error {
	if cfg.Allow != nil {
		return cfg.Allow(p)
	}
	if p.UID == 0 {
		return nil // without a system call
	}
	if me := os.Geteuid(); p.UID != me {
		return fmt.Errorf("process %d runs as user %d, not %d (Config.Allow decides)", p.PID, p.UID, me)
	}
	return nil
}

// ErrRefused says that there is no connection, because one side does not allow the other.
var ErrRefused = errors.New("stream: refused")

// ErrCorrupt says that the peer has broken the protocol, by an impossible position in the shared memory or by an
// impossible frame. The connection has ended.
var ErrCorrupt = errors.New("stream: the peer has broken the protocol: a position or a frame that cannot be")

// An Addr is the address of a Listener, or of one end of a Conn: that of the Unix socket over which both have met. Code
// that asks for the network finds the connection local, as gRPC's credentials/local does. Code that needs a
// *net.UnixAddr makes one: &net.UnixAddr{Name: a.Path, Net: "unix"}.
type Addr struct {
	Path string // of the Unix socket over which both processes have met
	Peer Peer   // the process at that end; zero for a Listener
}

// Network returns "unix".
func (a Addr) Network() string { return "unix" }

// String returns the path, and the process if it is known.
func (a Addr) String() string {
	if a.Peer.PID == 0 {
		return a.Path
	}
	return fmt.Sprintf("%s(process %d)", a.Path, a.Peer.PID)
}

var _ net.Addr = Addr{}

var _ = [1]struct{}{}[MinBuffer-ring.BytesLeast] // a ring begins with the least buffer
