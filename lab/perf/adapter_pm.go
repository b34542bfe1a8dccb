package perf

import (
	"errors"

	"weft"
	"weft/pm"
)

// A pmAdapter fills send buffers, and releases received messages without copying them, as a program that reads them
// in place would. A message that is longer than PM allows is written to locked memory, and a short message
// announces it.
type pmAdapter struct {
	b      *bench
	x      *pm.Context
	mine   []byte // locked, from which is written
	memory []byte // locked, to which the other rank writes
	from   pm.Handle
	to     pm.Handle
}

// newPMAdapter opens a context of package pm. Messages longer than pm.MTU go by remote write into memory that the
// other rank has locked; its handle is exchanged over port 1.
func newPMAdapter(b *bench, largest int) (c *pmAdapter, err error) {
	c = &pmAdapter{b: b}
	if c.x, err = pm.Open(b.ctx, b.p, libraryChannel, nil); err != nil || largest <= pm.MTU {
		return c, err
	}
	if c.mine, c.from, err = c.x.MLock(b.ctx, b.peer, largest); err != nil {
		return nil, err
	}
	var h pm.Handle
	if c.memory, h, err = c.x.MLock(b.ctx, b.peer, largest); err != nil {
		return nil, err
	}
	text, err := h.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if err := b.q.Send(b.ctx, b.peer, text); err != nil {
		return nil, err
	}
	m, err := b.q.Recv(b.ctx)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return c, c.to.UnmarshalBinary(m.Data)
}

// send sends a message, or writes a long one and announces it by a message of 8 bytes, which pm delivers after the
// write. It tries again while pm has no room: Write and GetSendBuffer do not wait for room [Tezuka97].
func (c *pmAdapter) send(b []byte) error {
	if len(b) <= pm.MTU {
		return c.message(b)
	}
	for {
		err := c.x.Write(c.b.ctx, c.to, c.from, len(b))
		if err == nil {
			return c.message(b[:8])
		}
		if !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
		if err := c.x.WriteDone(); err != nil && !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
	}
}

// message copies b into a send buffer of pm, and sends it.
func (c *pmAdapter) message(b []byte) error {
	for {
		buf, err := c.x.GetSendBuffer(c.b.peer, max(len(b), 1))
		if err == nil {
			copy(buf, b)
			return c.x.Send()
		}
		if !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
	}
}

func (c *pmAdapter) recv() error {
	for {
		ok, err := c.ready()
		if ok || err != nil {
			return err
		}
		if err := c.x.Wait(c.b.ctx); err != nil {
			return err
		}
	}
}

func (c *pmAdapter) ready() (bool, error) {
	_, _, err := c.x.Receive() // it is read where it lies
	if errors.Is(err, weft.ErrWouldBlock) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.x.ReleaseReceiveBuffer()
}

func (c *pmAdapter) flush() error {
	for {
		if err := c.x.SendDone(); !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
	}
}

func (c *pmAdapter) close() error { return c.x.Close() }
