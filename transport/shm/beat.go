package shm

import (
	"fmt"
	"time"
)

// beat counts up our heartbeat and looks at those of the peers, four times in
// the liveness time.
func (t *Transport) beat() {
	defer t.wg.Done()
	pause := t.cfg.Liveness / 4
	tick := time.NewTicker(pause)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
		}
		now := time.Now()
		t.seg.beat().Add(1)
		// After a pause of our own, because we were stopped or starved, the
		// others have had no chance to be seen alive.
		asleep := now.Sub(last) > 2*pause
		last = now
		for _, p := range t.silentPeers(now, asleep) {
			t.down(p, fmt.Errorf("its process has been silent for %v (stopped?)", t.cfg.Liveness))
		}
	}
}

// silentPeers returns the peers whose heartbeat has stood still too long.
func (t *Transport) silentPeers(now time.Time, asleep bool) (silent []*peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		if b := p.seg.beat().Load(); b != p.silent || asleep {
			p.silent, p.since = b, now
		} else if now.Sub(p.since) >= t.cfg.Liveness {
			silent = append(silent, p)
		}
	}
	return silent
}

// down reports the end of a peer, once.
func (t *Transport) down(p *peer, cause error) {
	if p.down.Swap(true) {
		return
	}
	t.seg.claims().Add(1) // its rings and cells may be given up
	select {
	case <-t.done:
	default:
		if t.cfg.Events.Down != nil {
			t.cfg.Events.Down(p.rank, cause)
		}
	}
}
