package link

// A replayWindow remembers which of the last packets have been seen: the last 1,024, or
// the last 64 while the peer is silent. It has more bits than it answers for: words are
// cleared whole as counters grow, and none of them may hold a counter that still counts.
type replayWindow struct {
	top    uint64                       // the highest counter seen
	floor  uint64                       // everything up to it counts as seen
	recent uint64                       // of a short window: bit i says that top-i has been seen
	seen   *[2 * replaySize / 64]uint64 // nil: the window is short
}

const (
	replaySize  = 1024
	replayShort = 64
)

// fresh reports whether a counter has not been seen.
func (w *replayWindow) fresh(c uint64) bool {
	switch {
	case c > w.top:
		return true
	case c <= w.floor:
		return false
	case w.seen == nil:
		return w.top-c < replayShort && w.recent&(1<<(w.top-c)) == 0
	default:
		return w.top-c < replaySize && w.seen[c/64%uint64(len(w.seen))]&(1<<(c%64)) == 0
	}
}

// mark remembers a fresh counter.
func (w *replayWindow) mark(c uint64) {
	if w.seen == nil {
		w.markShort(c)
		return
	}
	if c > w.top {
		for i := w.top/64 + 1; i <= c/64 && i <= w.top/64+uint64(len(w.seen)); i++ {
			w.seen[i%uint64(len(w.seen))] = 0
		}
		w.top = c
	}
	w.seen[c/64%uint64(len(w.seen))] |= 1 << (c % 64)
}

// markShort is mark of a short window.
func (w *replayWindow) markShort(c uint64) {
	if c > w.top {
		w.recent <<= c - w.top
		w.top = c
	}
	w.recent |= 1 << (w.top - c)
}

// widen makes the window a long one.
func (w *replayWindow) widen() {
	if w.top > replayShort {
		w.floor = max(w.floor, w.top-replayShort)
	}
	w.seen = new([2 * replaySize / 64]uint64)
	for i := range uint64(replayShort) {
		if w.recent&(1<<i) != 0 {
			w.mark(w.top - i)
		}
	}
}

// shorten makes the window a short one. What it does not remember any more counts as seen.
func (w *replayWindow) shorten() {
	w.recent = 0
	for i := range min(replayShort, w.top) {
		if !w.fresh(w.top - i) {
			w.recent |= 1 << i
		}
	}
	w.seen = nil
}
