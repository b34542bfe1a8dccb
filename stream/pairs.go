package stream

import (
	"sync"
	"time"
)

// A connection that is one of many between two busy processes moves into memory though it is not busy alone: the hub
// wakes it together with others there. A listener counts how often connections of a program have carried enough.
type pairs struct {
	mu     sync.Mutex
	counts [256]pairCount // by the number of the program that dialled; two programs with one count only move sooner
}

type pairCount struct {
	began     int64 // this span of time, in nanoseconds after epoch
	now, last int   // how often in it, and in the one before
}

// A pair of processes is busy if its connections have carried enough so often within the time quick. Each of them may
// then be slower than one alone, by the factor leisure.
const (
	pairBusy = 8
	leisure  = 100
)

var busyPairs pairs

// carried counts that a connection of a program has carried enough, and reports whether the pair is busy.
func (p *pairs) carried(image uint64, now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.counts[image%uint64(len(p.counts))]
	switch past := time.Duration(now - c.began); {
	case past > 2*quick:
		*c = pairCount{began: now}
	case past > quick:
		*c = pairCount{began: now, last: c.now}
	}
	c.now++
	return max(c.now, c.last) >= pairBusy
}
