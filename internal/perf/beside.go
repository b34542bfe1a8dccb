package perf

import (
	"context"
	"fmt"
	"sync/atomic"

	"weft"
)

// besideChannel is that of the long messages.
const besideChannel = 9

// beside makes rank 0 send long messages to rank 1, one after the other, until end is
// called at both: what is measured meanwhile goes the same way. It returns when the first
// has been announced. Nothing is sent if the spec does not ask for it.
func beside(ctx context.Context, p *weft.Proc, s Spec) (end func() error, err error) {
	if s.Bulk == 0 || p.Rank() > 1 {
		return func() error { return nil }, nil
	}
	q, err := p.Open(ctx, besideChannel, nil)
	if err != nil {
		return nil, err
	}
	var over atomic.Bool
	long := make([]byte, s.Bulk)
	for i := range long {
		long[i] = 1 // else all of it may be one page of zeros
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

// sendLong sends a long message again and again until it is over, and then an empty one.
func sendLong(ctx context.Context, q *weft.Port, long []byte, over *atomic.Bool) error {
	for !over.Load() {
		if err := q.Send(ctx, 1, long); err != nil {
			return err
		}
	}
	return q.Send(ctx, 1, nil)
}

// recvLong receives messages until an empty one comes.
func recvLong(ctx context.Context, q *weft.Port, long []byte) error {
	for {
		n, _, err := q.RecvInto(ctx, long)
		if err != nil || n == 0 {
			return err
		}
	}
}

// besideBars are about short messages and the hand-over of a lock to a rank to which
// 1 GiB is being sent, against the same when nothing is.
func besideBars(transports ...string) (bars []Bar) {
	const bulk, limit = 1 << 30, 3
	for _, t := range transports {
		idle := spec("latency", "send", 8).with(func(s *Spec) { s.Transport, s.Figure = t, "p99" })
		lock := spec("lock", "handover", 0).with(func(s *Spec) { s.Transport, s.Figure, s.N, s.Algorithm = t, "p99", 2, "queue" })
		long := func(s *Spec) { s.Bulk = bulk }
		bars = append(bars,
			Bar{Name: "beside8" + t, What: "8 B to a rank to which 1 GiB is being sent, " + t + ", 99th percentile, against idle",
				Ours: idle.with(long), Theirs: []Rival{{Weft, "idle", idle}}, Limit: limit},
			Bar{Name: "besidelock" + t, What: "a lock handed on meanwhile, " + t + ", 99th percentile, against idle",
				Ours: lock.with(long), Theirs: []Rival{{Weft, "idle", lock}}, Limit: limit})
	}
	return bars
}
