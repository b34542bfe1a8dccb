package perf

import "context"

// A memoryAdapter sends by writing into memory of the other rank, in slots. A pushAdapter and a
// vmmcAdapter say which memory that is.
type memoryAdapter struct {
	slots
	b     *bench
	inbox words
	put   func(ctx context.Context, off int, b []byte) error // writes into the other rank's memory
	whole int                                                // up to how many bytes put writes the last word last
}

// words are the words of memory that the other rank writes to: a weft.Region or a vmmc.Export.
type words interface {
	Load(off int) uint64
	Await(ctx context.Context, off int, old uint64) (uint64, error)
}

// newMemoryAdapter returns an adapter of window slots, for messages of up to largest bytes. It still needs
// its memory.
func newMemoryAdapter(b *bench, largest, window int) memoryAdapter {
	return memoryAdapter{b: b, slots: slots{window: window, size: (max(largest, 8) + 7) / 8 * 8}}
}

func (c *memoryAdapter) write(b []byte) error { return c.put(c.b.ctx, 0, b) }

// send writes a message to the next slot of the other rank: its last word last, which announces it.
func (c *memoryAdapter) send(b []byte) error {
	off, at := c.at(c.sent, len(b))
	head, word := c.stamp(b)
	if len(b) <= c.whole {
		return c.put(c.b.ctx, off, b)
	}
	if len(head) > 0 {
		if err := c.put(c.b.ctx, off, head); err != nil {
			return err
		}
	}
	return c.put(c.b.ctx, at, word)
}

// recv waits until the last word of the next slot is the number of the message that is due.
func (c *memoryAdapter) recv() error {
	_, at := c.at(c.taken, 8)
	for v := c.inbox.Load(at); v != c.taken+1; {
		var err error
		if v, err = c.inbox.Await(c.b.ctx, at, v); err != nil {
			return err
		}
	}
	c.taken++
	return nil
}

func (c *memoryAdapter) ready() (bool, error) {
	_, at := c.at(c.taken, 8)
	if c.inbox.Load(at) != c.taken+1 {
		return false, nil
	}
	c.taken++
	return true, nil
}
