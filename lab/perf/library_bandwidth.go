package perf

import "time"

// streamTaken sends one way, and the other rank takes each message. Its answer ends the time.
func (b *bench) streamTaken(c adapter, src []byte) error {
	n := b.spec.count(len(src))
	for range 2 { // the first time does not count
		start := time.Now()
		if b.p.Rank() == 0 {
			if err := repeat(n, func() error { return c.send(src) }); err != nil {
				return err
			}
			if _, _, err := b.q.RecvInto(b.ctx, nil); err != nil {
				return err
			}
		} else {
			if err := repeat(n, c.recv); err != nil {
				return err
			}
			if err := b.q.Send(b.ctx, b.peer, nil); err != nil {
				return err
			}
		}
		b.took = time.Since(start)
	}
	return b.report(len(src), n)
}

// streamOneSided writes one way. The time ends when all writes are complete.
func (b *bench) streamOneSided(c adapter, src []byte) error {
	n := b.spec.count(len(src))
	if b.p.Rank() == 0 {
		for range 2 {
			start := time.Now()
			if err := repeat(n, func() error { return c.(writer).write(src) }); err != nil {
				return err
			}
			if err := c.flush(); err != nil {
				return err
			}
			b.took = time.Since(start)
		}
	}
	return b.report(len(src), n)
}

// A writer is an adapter that can write to memory without the announcing word.
type writer interface{ write(b []byte) error }
