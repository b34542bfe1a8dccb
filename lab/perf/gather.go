package perf

import (
	"encoding/binary"
	"fmt"
	"time"

	"weft"
)

// gather lets all ranks push to rank 0 as fast as it takes messages: into one shared ring, or into one ring each
// with the same memory in total.
func (b *bench) gather(size int) error {
	n := b.spec.Exchanges
	if b.p.Rank() > 0 {
		s, err := b.p.AttachMailbox(b.ctx, 0, "perf")
		if err != nil {
			return err
		}
		src := make([]byte, max(size, 8))
		for i := range n {
			binary.LittleEndian.PutUint64(src, uint64(i))
			if err := s.Push(b.ctx, src); err != nil {
				return err
			}
		}
		return nil
	}
	senders := b.p.Size() - 1
	const memory = 1 << 20
	cfg := &weft.MailboxConfig{Rings: []int{memory}}
	if b.spec.Op == "own" {
		cfg = &weft.MailboxConfig{Table: map[int]int{0: weft.NoRing}}
		for i := range senders {
			cfg.Rings = append(cfg.Rings, memory/senders)
			cfg.Table[i+1] = i
		}
	}
	m, err := b.p.OpenMailbox("perf", cfg)
	if err != nil {
		return err
	}
	defer m.Close()
	next := make([]uint64, b.p.Size())
	var start time.Time
	for i := range n * senders {
		d, err := m.Next(b.ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			start = time.Now()
		}
		if v := binary.LittleEndian.Uint64(d.Data); v != next[d.From] {
			return fmt.Errorf("message %d of rank %d where %d was due", v, d.From, next[d.From])
		}
		next[d.From]++
		d.Release()
	}
	b.took = time.Since(start)
	return b.report(size, n*senders)
}
