package perf

import "time"

// count returns how many messages a stream has.
func (s Spec) count(size int) int {
	if s.Brief {
		return 200
	}
	if s.Test == "rate" {
		return 1000000
	}
	return max(min(1<<30/max(size, 1), 200000), 200)
}

// streamMessages sends one way. The receiver's answer ends the time.
func (b *bench) streamMessages(size int, src, dst []byte) error {
	n := b.spec.count(size)
	for range 2 { // the first time does not count
		start := time.Now()
		if b.p.Rank() == 0 {
			for range n {
				if err := b.send(src); err != nil {
					return err
				}
			}
			if err := b.recv(dst); err != nil {
				return err
			}
		} else {
			for range n {
				if err := b.recv(dst); err != nil {
					return err
				}
			}
			if err := b.q.Send(b.ctx, b.peer, nil); err != nil {
				return err
			}
		}
		b.took = time.Since(start)
	}
	return b.report(size, n)
}

// report emits, at rank 0, the bandwidth and the rate of n messages that took b.took. Rank 1 emits nothing.
func (b *bench) report(size, n int) error {
	if b.p.Rank() != 0 {
		return nil
	}
	s := b.took.Seconds()
	return emit(Sample{Size: size, MBs: float64(size) * float64(n) / s / 1e6, Msgs: float64(n) / s, Ops: n, Wall: s})
}

// streamWrites writes one way. The time ends when all writes are complete.
func (b *bench) streamWrites(size int, src []byte) error {
	n := b.spec.count(size)
	if b.p.Rank() == 0 {
		for range 2 {
			start := time.Now()
			for range n {
				var err error
				if b.spec.Op == "put" {
					err = b.far.Put(0, src)
				} else {
					err = b.far.Push(b.ctx, 0, src)
				}
				if err != nil {
					return err
				}
			}
			if err := b.far.Flush(b.ctx); err != nil {
				return err
			}
			b.took = time.Since(start)
		}
	}
	return b.report(size, n)
}
