package perf

import (
	"errors"

	"weft"
)

// A portAdapter sends weft's own messages.
type portAdapter struct {
	b  *bench
	in []byte
}

func newPortAdapter(b *bench, largest int) *portAdapter {
	return &portAdapter{b, make([]byte, max(largest, 1))}
}

func (c *portAdapter) send(b []byte) error { return c.b.q.Send(c.b.ctx, c.b.peer, b) }

func (c *portAdapter) recv() error {
	_, _, err := c.b.q.RecvInto(c.b.ctx, c.in)
	return err
}

func (c *portAdapter) ready() (bool, error) {
	m, err := c.b.q.TryRecv()
	if errors.Is(err, weft.ErrWouldBlock) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	copy(c.in, m.Data)
	m.Release()
	return true, nil
}

func (c *portAdapter) flush() error { return c.b.q.Flush(c.b.ctx) }
func (c *portAdapter) close() error { return nil }

// A pushAdapter writes into a region of the other rank.
type pushAdapter struct {
	memoryAdapter
	in  *weft.Region
	out *weft.Remote
}

// newPushAdapter opens a region of window slots at each rank, so that so many messages can be under way without one
// overwriting another.
func newPushAdapter(b *bench, largest, window int) (c *pushAdapter, err error) {
	c = &pushAdapter{memoryAdapter: newMemoryAdapter(b, largest, window)}
	if c.in, err = b.p.OpenRegion(b.ctx, "adapter", c.room(), nil); err != nil {
		return nil, err
	}
	if c.out, err = c.in.At(b.ctx, b.peer); err != nil {
		return nil, err
	}
	c.inbox = c.in
	c.put = c.out.Push
	return c, nil
}

func (c *pushAdapter) flush() error { return c.out.Flush(c.b.ctx) }
func (c *pushAdapter) close() error { return c.in.Close() }
