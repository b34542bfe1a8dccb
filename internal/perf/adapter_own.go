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
	slots
	b   *bench
	in  *weft.Region
	out *weft.Remote
}

// newPushAdapter opens a region of window slots at each rank, so that so many messages can be under way without one
// overwriting another.
func newPushAdapter(b *bench, largest, window int) (c *pushAdapter, err error) {
	c = &pushAdapter{b: b, slots: slots{window: window, size: (max(largest, 8) + 7) / 8 * 8}}
	if c.in, err = b.p.OpenRegion(b.ctx, "adapter", c.room(), nil); err != nil {
		return nil, err
	}
	c.out, err = c.in.At(b.ctx, b.peer)
	return c, err
}

func (c *pushAdapter) write(b []byte) error { return c.out.Push(c.b.ctx, 0, b) }

// send writes a message to the next slot of the other rank: first what lies before its last word, then the word,
// which announces it.
func (c *pushAdapter) send(b []byte) error {
	off, at := c.at(c.sent, len(b))
	head, word := c.stamp(b)
	if len(head) > 0 {
		if err := c.out.Push(c.b.ctx, off, head); err != nil {
			return err
		}
	}
	return c.out.Push(c.b.ctx, at, word)
}

// recv waits until the last word of the next slot is the number of the message that is due.
func (c *pushAdapter) recv() error {
	_, at := c.at(c.taken, 8)
	for v := c.in.Load(at); v != c.taken+1; {
		var err error
		if v, err = c.in.Await(c.b.ctx, at, v); err != nil {
			return err
		}
	}
	c.taken++
	return nil
}

func (c *pushAdapter) ready() (bool, error) {
	_, at := c.at(c.taken, 8)
	if c.in.Load(at) != c.taken+1 {
		return false, nil
	}
	c.taken++
	return true, nil
}

func (c *pushAdapter) flush() error { return c.out.Flush(c.b.ctx) }
func (c *pushAdapter) close() error { return c.in.Close() }
