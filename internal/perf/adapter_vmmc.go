package perf

import (
	"weft/vmmc"
)

// libraryChannel is the channel of the libraries, apart from those of weft itself.
const libraryChannel = 100

// A vmmcAdapter sends into an export of the other rank.
type vmmcAdapter struct {
	slots
	b   *bench
	e   *vmmc.Endpoint
	in  *vmmc.Export
	out *vmmc.Import
}

func newVMMCAdapter(b *bench, largest, window int) (c *vmmcAdapter, err error) {
	c = &vmmcAdapter{b: b, slots: slots{window: window, size: (max(largest, 8) + 7) / 8 * 8}}
	if c.e, err = vmmc.Open(b.p, libraryChannel, nil); err != nil {
		return nil, err
	}
	if c.in, err = c.e.Export(b.ctx, "adapter", c.room(), nil); err != nil {
		return nil, err
	}
	c.out, err = c.e.Import(b.ctx, b.peer, "adapter")
	return c, err
}

func (c *vmmcAdapter) write(b []byte) error { return c.out.Send(c.b.ctx, 0, b) }

func (c *vmmcAdapter) send(b []byte) error {
	off, at := c.at(c.sent, len(b))
	head, word := c.stamp(b)
	if len(head) > 0 {
		if err := c.out.Send(c.b.ctx, off, head); err != nil {
			return err
		}
	}
	return c.out.Send(c.b.ctx, at, word)
}

func (c *vmmcAdapter) recv() error {
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

func (c *vmmcAdapter) ready() (bool, error) {
	_, at := c.at(c.taken, 8)
	if c.in.Load(at) != c.taken+1 {
		return false, nil
	}
	c.taken++
	return true, nil
}

func (c *vmmcAdapter) flush() error { return c.out.Flush(c.b.ctx) }
func (c *vmmcAdapter) close() error { return c.e.Close() }
