package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"weft/internal/handshake"
)

// MaxMetadata is the greatest number of bytes of a connection's metadata.
const MaxMetadata = 4 << 10

// ErrMetadata says that the metadata of a connection has more than MaxMetadata bytes. Dial returns it, and a listener
// that is sent more ends the connection before Accept would return it.
var ErrMetadata = errors.New("stream: too much metadata")

type metadataKey struct{}

// WithMetadata returns a context with which every Dial hands b, the metadata, to the listener: the connection that
// Accept returns there gives it back (Metadata). It is for what belongs to the caller and not to the stream of
// bytes, such as the context of a trace.
// WithMetadata copies b. The metadata is as secret and as authentic as the bytes of the connection.
func WithMetadata(ctx context.Context, b []byte) context.Context {
	return context.WithValue(ctx, metadataKey{}, slices.Clone(b))
}

// metadataOf returns what WithMetadata has put into a context, or nil.
func metadataOf(ctx context.Context) ([]byte, error) {
	b, _ := ctx.Value(metadataKey{}).([]byte)
	return b, checkMetadata(len(b))
}

func checkMetadata(n int) error {
	if n > MaxMetadata {
		return fmt.Errorf("%w: %d bytes, and %d are the most", ErrMetadata, n, MaxMetadata)
	}
	return nil
}

// appendMetadata appends metadata as it goes through TLS: its length in two bytes, and its bytes.
func appendMetadata(b, metadata []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(metadata))), metadata...)
}

// readMetadata reads what appendMetadata has made.
func readMetadata(r io.Reader) ([]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return readBytes(r, int(binary.LittleEndian.Uint16(head[:])))
}

// readBytes reads metadata of n bytes. It allocates nothing for more than MaxMetadata.
func readBytes(r io.Reader, n int) ([]byte, error) {
	if err := checkMetadata(n); err != nil || n == 0 {
		return nil, err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// A greeting is the metadata of the dialler, at the listener's end of a Conn.
type greeting struct {
	owed     atomic.Bool // it has still to be read
	mu       sync.Mutex
	metadata []byte // nil at the dialler's end
	err      error
}

// greeted waits for the metadata that the dialler has announced, for ten seconds at most.
func (c *Conn) greeted() error {
	g := &c.greeting
	if !g.owed.Load() {
		return g.err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.owed.Load() {
		return g.err
	}
	stop := handshake.Within(c.first, handshake.Timeout)
	g.metadata, g.err = readMetadata(c.first)
	stop()
	c.mu.Lock()
	_ = c.first.SetReadDeadline(c.reader.until)
	_ = c.first.SetWriteDeadline(c.writer.until)
	c.mu.Unlock()
	if g.err != nil {
		c.ledger.note(g.err)
		_ = c.first.CloseRead()
		_ = c.first.CloseWrite()
	}
	g.owed.Store(false)
	return g.err
}

// Metadata returns what the dialler's context had (WithMetadata), on a connection that Accept has returned, and nil
// otherwise. It comes behind the connection: Metadata waits for it, for ten seconds at most, unless a call of Read has.
// If it does not come, or has more than MaxMetadata bytes, the connection ends. The caller must not change it.
func (c *Conn) Metadata() []byte {
	_ = c.greeted()
	return c.greeting.metadata
}

// Metadata returns what the dialler's context had (WithMetadata), on a connection that Accept has returned, and nil
// otherwise. The caller must not change it.
func (c *TLSConn) Metadata() []byte { return c.metadata }

// Metadata returns what the dialler's context had (WithMetadata), on a connection that Accept has returned, and nil
// otherwise. The caller must not change it.
func (c *RankConn) Metadata() []byte { return c.metadata }

// Bounds of the connections that wait for the listener of a rank: those with metadata take at most 16 MiB for it.
const (
	mostOpens             = 1 << 16
	mostOpensWithMetadata = 16 << 20 / MaxMetadata
)

// open dials, with metadata.
func (c *RankConn) open(metadata []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := frame{kind: frameOpen, dialled: c.id.mine, arg: uint32(c.n.window), id: c.id.n}
	if len(metadata) == 0 {
		c.control(f)
		return
	}
	c.enqueue(outFrame{f, append(make([]byte, headerBytes), metadata...)})
}

// carry keeps the metadata of a dial, and returns how many connections may wait for the listener, this one included.
func (c *RankConn) carry(metadata []byte) (most int) {
	if len(metadata) == 0 {
		return mostOpens
	}
	c.metadata = slices.Clone(metadata)
	return mostOpensWithMetadata
}
