package endpoint

import (
	"context"
	"encoding/binary"
	"errors"

	"weft"
)

// Barrier returns when all ranks have called it. It handles what arrives meanwhile, so this rank serves the others
// meanwhile. It takes dissemination, log2 n rounds [Hensgen88]. If a rank is gone that has not called Barrier, all
// others get an error that names it: a rank that misses it tells the ranks that wait for itself.
func (e *Endpoint) Barrier(ctx context.Context) error {
	e.phase++
	var broken error
	for round, hop := 0, 1; hop < e.Size; round, hop = round+1, 2*hop {
		e.Head(e.note[:], kindBarrier, byte(round), 0)
		binary.LittleEndian.PutUint64(e.note[HeadSize:], uint64(e.missing))
		if err := e.Port.Send(ctx, (e.Me+hop)%e.Size, e.note[:]); err != nil && broken == nil {
			broken = err
		}
		for broken == nil && int32(e.met[round]-e.phase) < 0 {
			broken = e.Step(ctx)
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

// hear notes the rank that a barrier misses, which is missing less 1; 0 means none.
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
