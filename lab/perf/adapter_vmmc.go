package perf

import (
	"weft"
	"weft/vmmc"
)

// libraryChannel is the channel of the libraries, apart from those of weft itself.
const libraryChannel = 100

// A vmmcAdapter sends into an export of the other rank.
type vmmcAdapter struct {
	memoryAdapter
	e   *vmmc.Endpoint
	out *vmmc.Import
}

func newVMMCAdapter(b *bench, largest, window int) (c *vmmcAdapter, err error) {
	c = &vmmcAdapter{memoryAdapter: newMemoryAdapter(b, largest, window)}
	if c.e, err = vmmc.Open(b.p, libraryChannel, nil); err != nil {
		return nil, err
	}
	in, err := c.e.Export(b.ctx, "adapter", c.room(), nil)
	if err != nil {
		return nil, err
	}
	if c.out, err = c.e.Import(b.ctx, b.peer, "adapter"); err != nil {
		return nil, err
	}
	c.inbox = in
	c.put = c.out.Send
	c.whole = weft.MaxPut
	return c, nil
}

func (c *vmmcAdapter) flush() error { return c.out.Flush(c.b.ctx) }
func (c *vmmcAdapter) close() error { return c.e.Close() }
