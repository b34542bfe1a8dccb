package stream

import (
	"fmt"
	"testing"
)

// TestLedger: a ledger lists each open connection once, in whatever order connections close. The counts of a closed
// connection stay in the sum. Closing it again changes nothing.
func TestLedger(t *testing.T) {
	for order := range 1 << 6 {
		l := newLedger("unix", "/a", false)
		tallies := make([]*tally, 3)
		open := map[uint64]bool{}
		for i := range tallies {
			tallies[i] = &tally{remote: Addr{Path: fmt.Sprint(i)}}
			tallies[i].read.Store(1 << i)
			l.enter(tallies[i])
			open[1<<i] = true
		}
		for range tallies { // two bits say which one leaves next, perhaps for the second time
			left := tallies[order%4%3]
			order /= 4
			l.leave(left)
			delete(open, left.read.Load())
			s := l.stats(len(tallies))
			if s.Open != len(open) || len(s.Conns) != len(open) || s.Made != 3 || s.Read != 7 {
				t.Fatalf("%d are open: %+v", len(open), s)
			}
			for _, c := range s.Conns {
				if !open[c.Read] {
					t.Fatalf("%d has left: %+v", c.Read, s)
				}
			}
		}
	}
}
