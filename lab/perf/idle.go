package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// idleTime is how long the ranks of an idle test wait for each other.
const idleTime = time.Second

// idle measures the processor time that two ranks use while both wait: rank 0 for a message that does not come,
// rank 1 until rank 0 has waited long enough.
func (b *bench) idle() error {
	if err := b.meet(); err != nil {
		return err
	}
	start := time.Now()
	used := processorTime()
	if b.p.Rank() == 1 {
		m, err := b.q.Recv(b.ctx)
		if err != nil {
			return err
		}
		m.Release()
		used = processorTime() - used
		return b.q.Send(b.ctx, 0, binary.LittleEndian.AppendUint64(nil, uint64(used)))
	}
	ctx, cancel := context.WithTimeout(b.ctx, idleTime)
	defer cancel()
	if _, err := b.q.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waited for nothing, and got %w", err)
	}
	used = processorTime() - used
	wall := time.Since(start).Seconds()
	if err := b.q.Send(b.ctx, 1, nil); err != nil {
		return err
	}
	m, err := b.q.Recv(b.ctx)
	if err != nil {
		return err
	}
	defer m.Release()
	used += time.Duration(binary.LittleEndian.Uint64(m.Data))
	return emit(Sample{Size: b.spec.Sizes[0], CPU: used.Seconds() / wall, Ops: 1, Wall: wall})
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
