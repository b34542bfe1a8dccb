package weft

import (
	"context"
	"fmt"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/timeline"
)

// Await waits until the 8-byte word at off differs from old, and returns the word: so a program
// waits for a peer's Put or atomic operation. Off must be a multiple of 8. Await polls for a
// while, and then looks every millisecond. For long waits a message is better.
//
// Any rank might write the word, so the death of any rank ends the wait with a WaitError that
// contains a PeerError. Each death is reported once for each word, after the last write of the
// dead rank, also if it happened before Await was called. A rank that leaves in good order is
// reported only if it was the last of the other ranks.
func (r *Region) Await(ctx context.Context, off int, old uint64) (uint64, error) {
	if r.closed.Load() || r.p.node.Closing() {
		return 0, ErrClosed
	}
	if err := rma.CheckWord(off, r.size); err != nil {
		return 0, err
	}
	if v := mem.Load64(r.Bytes(), off); v != old {
		return v, nil
	}
	if r.p.timeline == nil {
		return r.await(ctx, off, old)
	}
	began := r.p.timeline.Mark()
	v, err := r.await(ctx, off, old)
	r.p.timeline.Note(began, timeline.Look, 0, timeline.Nobody, 8, err)
	return v, err
}

func (r *Region) await(ctx context.Context, off int, old uint64) (v uint64, err error) {
	b := r.Bytes()
	node := r.p.node
	if v = node.Glance(mem.Atomic64(b, off), old); v != old && !r.closed.Load() {
		return v, nil
	}
	seen := r.bereavements(off)
	changed := func() bool {
		v = mem.Load64(b, off)
		return v != old || r.closed.Load()
	}
	news := func() bool { return changed() || node.Departures() > seen }
	for {
		ok, err := node.Spin(ctx, news)
		if !ok && err == nil {
			w := r.p.waits.Begin("word", fmt.Sprintf("%s, at %d", r.region.Name, off), r.p.Now())
			err = node.Look(ctx, news)
			r.p.waits.End(w)
		}
		switch {
		case changed() && r.closed.Load():
			return 0, ErrClosed
		case v != old:
			return v, nil // also if the rank that wrote it has died since
		case err != nil:
			return v, r.explain(off, err)
		}
		var gone *PeerError
		if gone, seen = r.bereaved(off, seen); gone != nil {
			return v, r.explain(off, gone)
		}
	}
}

func (r *Region) explain(off int, err error) error {
	return failure.Waited(err, fmt.Sprintf("word at %d of region %q", off, r.region.Name), "")
}

// bereavements returns how many ends of ranks have been reported to waits for a word.
func (r *Region) bereavements(off int) int {
	if r.p.node.Departures() == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[off]
}

// bereaved returns the next end of a rank after the first seen ones that must be reported to
// waits for a word, or nil, and how many ends have been looked at.
func (r *Region) bereaved(off, seen int) (*PeerError, int) {
	for {
		_, why := r.p.node.Departed(seen)
		if why == nil {
			return nil, seen
		}
		seen++
		if !why.Clean || seen == r.p.job.Size-1 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.told == nil {
				r.told = map[int]int{}
			}
			r.told[off] = max(r.told[off], seen)
			return why, seen
		}
	}
}
