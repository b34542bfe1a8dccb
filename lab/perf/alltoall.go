package perf

import (
	"encoding/binary"
	"time"
)

// allToAll sends from each rank to each other, round after round; ranks are at most one round apart. The figure is
// the processor time that all ranks use for the rounds, without starting and connecting.
func (b *bench) allToAll() error {
	size := b.spec.Sizes[0]
	msg := make([]byte, size)
	buf := make([]byte, max(size, 8))
	if err := b.exchange(msg, buf); err != nil {
		return err
	}
	start := time.Now()
	used := processorTime()
	for range b.spec.Exchanges {
		if err := b.exchange(msg, buf); err != nil {
			return err
		}
	}
	used = processorTime() - used
	wall := time.Since(start).Seconds()
	if b.p.Rank() != 0 {
		return b.q.Send(b.ctx, 0, binary.LittleEndian.AppendUint64(nil, uint64(used)))
	}
	for from := 1; from < b.p.Size(); from++ {
		if _, err := b.q.RecvIntoFrom(b.ctx, from, buf); err != nil {
			return err
		}
		used += time.Duration(binary.LittleEndian.Uint64(buf))
	}
	n := b.spec.Exchanges * (b.p.Size() - 1) * b.p.Size()
	return emit(Sample{Size: size, Msgs: float64(n) / wall, CPU: used.Seconds(), Ops: n, Wall: wall})
}

// exchange sends a message to each other rank and receives one from each.
func (b *bench) exchange(msg, buf []byte) error {
	n := b.p.Size()
	for i := 1; i < n; i++ {
		if err := b.q.Send(b.ctx, (b.p.Rank()+i)%n, msg); err != nil {
			return err
		}
	}
	for i := 1; i < n; i++ {
		if _, err := b.q.RecvIntoFrom(b.ctx, (b.p.Rank()-i+n)%n, buf); err != nil {
			return err
		}
	}
	return nil
}
