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
	// LeastBuffer and MostBuffer bound Config.Buffer, in bytes.
	LeastBuffer = 16 << 10
	MostBuffer  = 64 << 20

	defaultBuffer  = 256 << 10
	defaultSpin    = 20 * time.Microsecond
	defaultBacklog = 128
)

// A Config says how connections are made and how their calls wait. The zero value is
// what Listen and Dial use. It may be used by many goroutines, and must not change
// while it is.
type Config struct {
	// Spin is how long a call that must wait polls before it sleeps. Zero means 20
	// microseconds, if the process may use two processors or more; less where polling
	// has been in vain. Negative means never.
	Spin time.Duration

	// Nap is how long a call that has polled then sleeps in the kernel, on the doorbell
	// itself, before Go's netpoller takes over. It is woken in half the time, and holds a
	// thread and its processor meanwhile: that is for processes that do little else than
	// answer each other. No more goroutines nap than there are processors, less one, none
	// while others could run, and seldom where naps have been in vain. Zero means never.
	Nap time.Duration

	// Buffer is the most bytes that each direction of a connection holds: a power of
	// two. Zero means 256 KiB. The listener's value counts. Until a connection has
	// filled them, each direction uses 16 KiB.
	Buffer int

	// Backlog is how many connections may have been made and not been accepted. More
	// wait in the kernel's queue. Zero means 128.
	Backlog int

	// TLS is how to encrypt between hosts, and which certificates count, as crypto/tls
	// says; below version 1.3 nothing is spoken. A listener that is to know who dials sets
	// ClientAuth. Where both sides are told a Key it is nil.
	TLS *tls.Config

	// Key is what both sides between hosts must know: LeastKey random bytes or more. Each
	// proves to the other that it does, and each connection is encrypted under keys of its own,
	// which who learns Key later cannot find out.
	Key []byte

	// Allow decides, by an error, which processes are refused. Nil allows those that
	// run as the same user, and root. It may be called by many goroutines at once.
	Allow func(Peer) error
}

// A Peer is the process at the other end, as the kernel knows it.
type Peer struct {
	PID int // that connected, or that listened
	UID int // its effective user at that time
}

// Listen is Config.Listen with the zero Config.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return new(Config).Listen(ctx, address)
}

// Dial is Config.Dial with the zero Config. To net/http it can be given as
//
//	DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return stream.Dial(ctx, path) }
func Dial(ctx context.Context, address string) (net.Conn, error) {
	return new(Config).Dial(ctx, address)
}

// Listen listens at an address. Which kind it is of follows from what it looks like:
//
//   - A path, or a name in Linux's abstract space, which begins with @, is for processes of
//     this host: a Unix socket is made there, where both meet, and the Listener is a *Listener. Whoever may write
//     to the socket's file can come, and is let in if Config.Allow says so. A file that a listener
//     has left whose process was killed is replaced.
//   - A host and a port, host:port, without a slash, is for other hosts: TCP, encrypted as
//     Config.TLS or Config.Key says, without which the error is ErrOpen. The Listener is
//     a *TLSListener.
//
// ctx counts only until Listen returns.
func (cfg *Config) Listen(ctx context.Context, address string) (net.Listener, error) {
	if remote(address) {
		l, err := cfg.listenTLS(ctx, address)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	l, err := cfg.listenPath(ctx, address)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Dial connects to whoever listens at an address, of which the kinds are those of Listen: the
// connection is a *Conn or a *TLSConn. It waits until the listener has admitted it, at most ten
// seconds, or until ctx ends; a connection that has been made is not affected by ctx. If
// one of the two does not allow the other the error is ErrRefused.
func (cfg *Config) Dial(ctx context.Context, address string) (net.Conn, error) {
	if remote(address) {
		c, err := cfg.dialTLS(ctx, address)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := cfg.dialPath(ctx, address)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (cfg *Config) spin() time.Duration {
	if cfg.Spin == 0 {
		return defaultSpin
	}
	return max(cfg.Spin, 0)
}

func (cfg *Config) backlog() int {
	if cfg.Backlog <= 0 {
		return defaultBacklog
	}
	return cfg.Backlog
}

// buffer returns the size of each ring.
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
	if n < LeastBuffer || n > MostBuffer || n&(n-1) != 0 {
		return fmt.Errorf("stream: a buffer of %d bytes: it must be a power of two from %d to %d", n, LeastBuffer, MostBuffer)
	}
	return nil
}

// allow applies the policy to a peer.
func (cfg *Config) allow(p Peer) error {
	if cfg.Allow != nil {
		return cfg.Allow(p)
	}
	if me := os.Geteuid(); p.UID != me && p.UID != 0 {
		return fmt.Errorf("process %d runs as user %d, not %d (Config.Allow decides)", p.PID, p.UID, me)
	}
	return nil
}

// ErrRefused reports a meeting that came to nothing: the other side was not allowed, did
// not allow us, had no memory or descriptors left, or does not speak this protocol.
var ErrRefused = errors.New("stream: refused")

// ErrCorrupt reports that the other side wrote into the shared memory what cannot be. The
// connection has ended.
var ErrCorrupt = errors.New("stream: the peer wrote positions into the shared memory that cannot be")

// An Addr is the address of one end of a connection, or of a Listener.
type Addr struct {
	Path string // of the socket where both have met
	Peer Peer   // at that end; zero for a Listener
}

// Network returns "weft".
func (a Addr) Network() string { return "weft" }

// String returns the path, and the process if it is known.
func (a Addr) String() string {
	if a.Peer.PID == 0 {
		return a.Path
	}
	return fmt.Sprintf("%s(process %d)", a.Path, a.Peer.PID)
}

var _ net.Addr = Addr{}

var _ = [1]struct{}{}[LeastBuffer-ring.BytesLeast] // a ring begins with the least buffer
