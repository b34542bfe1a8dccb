package perf

import (
	"context"
	"fmt"
	"sync/atomic"

	"weft"
)

// besideChannel is the channel of the long messages.
const besideChannel = 9

// beside makes rank 0 send long messages to rank 1, one after the other, until both ranks call end. The
// measurement goes on meanwhile between the same two ranks. Without s.Bulk nothing is sent.
func beside(ctx context.Context, p *weft.Proc, s Spec) (end func() error, err error) {
	if s.Bulk == 0 || p.Rank() > 1 {
		return func() error { return nil }, nil
	}
	q, err := p.OpenPort(besideChannel, nil)
	if err != nil {
		return nil, err
	}
	var over atomic.Bool
	long := make([]byte, s.Bulk)
	for i := range long {
		long[i] = 1 // untouched memory may all be one page of zeros
	}
	transfer := func() error { return sendLong(ctx, q, long, &over) }
	if p.Rank() == 1 {
		transfer = func() error { return recvLong(ctx, q, long) }
	}
	done := make(chan error, 1)
	go func() { done <- transfer() }()
	return func() error {
		over.Store(true)
		if err := <-done; err != nil {
			return fmt.Errorf("long messages beside the measurement: %w", err)
		}
		return nil
	}, nil
}

// sendLong sends a long message again and again until over is set, and then an empty one.
func sendLong(ctx context.Context, q *weft.Port, long []byte, over *atomic.Bool) error {
	for !over.Load() {
		if err := q.Send(ctx, 1, long); err != nil {
			return err
		}
	}
	return q.Send(ctx, 1, nil)
}

// recvLong receives messages until an empty one arrives.
func recvLong(ctx context.Context, q *weft.Port, long []byte) error {
	for {
		n, _, err := q.RecvInto(ctx, long)
		if err != nil || n == 0 {
			return err
		}
	}
}

// besideTargets concern short messages, and a lock passed on, to a rank that is receiving 1 GiB meanwhile.
// They compare the 99th percentile with that of the same operation when nothing else goes on. A transport comes with
// its name in words.
func besideTargets(transports [][2]string) (targets []Target) {
	const limit = 3
	long := func(s *Spec) { s.Bulk = 1 << 30 }
	for _, over := range transports {
		t := over[0]
		name := over[1]
		idle := spec("latency", "send", 8).with(func(s *Spec) {
			s.Transport = t
			s.Figure = "p99"
		})
		lock := spec("lock", "handover", 0).with(func(s *Spec) {
			s.Transport = t
			s.Figure = "p99"
			s.N = 2
			s.Algorithm = "queue"
		})
		targets = append(targets,
			Target{
				Name: "beside8" + t,
				What: "8 B beside 1 GiB, 99th percentile, " + name,
				Ours: idle.with(long), Against: weftDoing("idle", idle), Limit: limit,
			},
			Target{
				Name: "besidelock" + t,
				What: "a lock beside 1 GiB, 99th percentile, " + name,
				Ours: lock.with(long), Against: weftDoing("idle", lock), Limit: limit,
			})
	}
	return targets
}
