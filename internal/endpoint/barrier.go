package endpoint

import (
	"context"
	"encoding/binary"
	"errors"

	"weft"
)

// Barrier returns when all ranks have called it. Step waits for something new and handles
// it: so this rank serves the others while it waits. The algorithm is dissemination, of
// log2 n rounds. If a rank is gone that has not come, all others get an error that says
// which: whoever misses it tells those that wait for itself.
func (e *Endpoint) Barrier(ctx context.Context, step func(context.Context) error) error {
	e.phase++
	var broken error
	for round, hop := 0, 1; hop < e.Size; round, hop = round+1, 2*hop {
		e.Head(e.note[:], kindBarrier, byte(round), 0)
		binary.LittleEndian.PutUint64(e.note[HeadSize:], uint64(e.missing))
		if err := e.Port.Send(ctx, (e.Me+hop)%e.Size, e.note[:]); err != nil && broken == nil {
			broken = err
		}
		for broken == nil && int32(e.met[round]-e.phase) < 0 {
			broken = step(ctx)
			if from := (e.Me - hop + e.Size) % e.Size; e.gone[from] != nil {
				e.hear(from + 1)
			}
			if e.missing != 0 {
				broken = e.absent()
			}
		}
	}
	return broken
}

// hear notes that a barrier misses a rank, which is one less than the number; 0 is no news.
func (e *Endpoint) hear(missing int) {
	if missing > 0 && missing <= e.Size && e.missing == 0 {
		e.missing = missing
	}
}

// absent returns the error of a barrier that misses a rank.
func (e *Endpoint) absent() error {
	if err := e.gone[e.missing-1]; err != nil {
		return err
	}
	return &weft.PeerError{Rank: e.missing - 1, Cause: errors.New("another rank has missed it at a barrier")}
}
