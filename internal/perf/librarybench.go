package perf

import "time"

// streamTaken sends one way, and the other rank takes each message; its answer ends the time.
func (b *bench) streamTaken(c courier, src []byte) error {
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

// streamOneSided writes one way; the time ends when all is there.
func (b *bench) streamOneSided(c courier, src []byte) error {
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

// A writer is a courier that writes to memory: here without a word that tells of it.
type writer interface{ write(b []byte) error }
