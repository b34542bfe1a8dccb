package hostbarrier

import (
	"time"

	"weft/internal/mem"
)

const (
	passes    = 80
	batch     = 8       // passes that are measured together
	mostLooks = 1000000 // some 300 us: if the other process does not run it is not waited for
)

// RoundTrip measures how long a word takes from the processor of this process to that of another one and back. It is
// the shortest of many times, so other programs hardly change it; or 0, if it cannot be measured because the processes
// do not run at the same time. The other process calls it at about the same time, with mine and theirs exchanged: one
// of the two says first. Both words are 0 at first.
func (b *Bell) RoundTrip(mine, theirs []byte, first bool) time.Duration {
	if b.Node.Hosted() || b.Wait.Budget == 0 {
		return 0
	}
	least := time.Duration(0)
	start := time.Now()
	for pass := uint64(1); pass <= passes; pass++ {
		if first {
			mem.Publish64(mine, 0, pass)
		}
		for looks := 0; mem.Load64(theirs, 0) < pass; looks++ {
			if looks == mostLooks {
				return 0
			}
		}
		if !first {
			mem.Publish64(mine, 0, pass)
		}
		if pass%batch != 0 {
			continue
		}
		now := time.Now()
		if took := now.Sub(start) / batch; pass > batch && (least == 0 || took < least) {
			least = took
		}
		start = now
	}
	return least
}
