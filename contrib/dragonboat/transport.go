package weftdragonboat

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/lni/dragonboat/v4/raftio"
	pb "github.com/lni/dragonboat/v4/raftpb"
)

const (
	dialTime = 5 * time.Second  // of a connection; dragonboat tries again later
	sendTime = 10 * time.Second // in which the peer must take what a batch or chunk finds no room for
)

// A transport is that of one NodeHost.
type transport struct {
	*factory
	address  string
	messages raftio.MessageHandler
	chunks   raftio.ChunkHandler

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	serving sync.WaitGroup
}

// Name returns a name for dragonboat's log.
func (t *transport) Name() string { return "weft" }

// Start listens.
func (t *transport) Start() error {
	l, err := t.listen(t.ctx, t.address)
	if err != nil {
		return err
	}
	context.AfterFunc(t.ctx, func() { l.Close() })
	t.serving.Go(func() { t.accept(l) })
	return nil
}

// Close ends the listener and the connections to this NodeHost. Nothing is handed to dragonboat any more when it has
// returned.
func (t *transport) Close() error {
	t.cancel()
	t.serving.Wait()
	return nil
}

func (t *transport) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case t.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil {
				conn.Close()
			}
			return
		case err != nil: // such as a lack of descriptors, which may pass
			select {
			case <-t.ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		default:
			t.serving.Go(func() { t.serve(conn) })
		}
	}
}

// serve hands on what comes over a connection until it ends, or brings what cannot be.
func (t *transport) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(t.ctx, func() { conn.Close() })()
	r := &frameReader{in: bufio.NewReaderSize(conn, 64<<10)}
	for {
		kind, body, err := r.next()
		if err != nil {
			return
		}
		switch kind {
		case messageFrame:
			var batch pb.MessageBatch
			if batch.Unmarshal(body) != nil {
				return
			}
			t.messages(batch)
		case chunkFrame:
			var chunk pb.Chunk
			if chunk.Unmarshal(body) != nil || !t.chunks(chunk) {
				return
			}
		}
	}
}

// GetConnection connects to a NodeHost, for messages.
func (t *transport) GetConnection(ctx context.Context, target string) (raftio.IConnection, error) {
	c, err := t.connect(ctx, target)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// GetSnapshotConnection connects to a NodeHost, for a snapshot.
func (t *transport) GetSnapshotConnection(ctx context.Context, target string) (raftio.ISnapshotConnection, error) {
	c, err := t.connect(ctx, target)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (t *transport) connect(ctx context.Context, target string) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := t.dial(ctx, target)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn}, nil
}

// A connection sends messages or a snapshot to a NodeHost. One goroutine at a time uses it.
type connection struct {
	conn  net.Conn
	frame []byte
}

// Close ends the connection; what has been sent still arrives.
func (c *connection) Close() { _ = c.conn.Close() }

// SendMessageBatch sends messages.
func (c *connection) SendMessageBatch(batch pb.MessageBatch) error {
	return c.send(messageFrame, batch.SizeUpperLimit(), &batch)
}

// SendChunk sends a part of a snapshot.
func (c *connection) SendChunk(chunk pb.Chunk) error {
	return c.send(chunkFrame, chunk.Size(), &chunk)
}

func (c *connection) send(kind byte, most int, m pb.Marshaler) error {
	frame, err := appendFrame(c.frame[:0], kind, most, m)
	if err != nil {
		return err
	}
	c.frame = frame
	if cap(frame) > mostKept {
		c.frame = nil
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	_, err = c.conn.Write(frame)
	return err
}
