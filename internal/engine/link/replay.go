package link

// A replayWindow remembers which of the last packets have been seen. It has more bits
// than it answers for: words are cleared whole as counters grow, and none of them may
// hold a counter that still counts.
type replayWindow struct {
	top  uint64 // the highest counter seen
	seen [2 * replaySize / 64]uint64
}

const replaySize = 1024

// fresh reports whether a counter has not been seen.
func (w *replayWindow) fresh(c uint64) bool {
	if c > w.top {
		return true
	}
	return c > 0 && w.top-c < replaySize && w.seen[c/64%uint64(len(w.seen))]&(1<<(c%64)) == 0
}

// mark remembers a fresh counter.
func (w *replayWindow) mark(c uint64) {
	if c > w.top {
		for i := w.top/64 + 1; i <= c/64 && i <= w.top/64+uint64(len(w.seen)); i++ {
			w.seen[i%uint64(len(w.seen))] = 0
		}
		w.top = c
	}
	w.seen[c/64%uint64(len(w.seen))] |= 1 << (c % 64)
}
