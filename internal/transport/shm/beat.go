package shm

import (
	"fmt"
	"time"

	"weft/internal/sys"
)

// A peer whose heartbeat stands still for silence looks, and whose process is stopped, counts as
// dead. A process that is not stopped may only get no processor: its rank counts as dead after
// starvation looks.
const (
	silence    = 4
	starvation = 10 * silence
)

// beat counts up our heartbeat and looks at those of the peers, four times in
// the liveness time. Looks are counted, not time: while this process is stopped
// or starved itself it does not look.
func (t *Transport) beat() {
	defer t.wg.Done()
	tick := time.NewTicker(max(t.cfg.Liveness/silence, 1))
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
		}
		t.seg.beat().Add(1)
		for _, p := range t.silentPeers() {
			t.down(p, fmt.Errorf("its process has been silent for %v (stopped?)", t.cfg.Liveness))
		}
	}
}

// silentPeers returns the peers whose heartbeat has stood still too long. The kernel
// tells which processes have ended, so only stopped ones have to be found here: a process that
// gets no processor is waited for much longer.
func (t *Transport) silentPeers() (silent []*peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		if b := p.seg.beat().Load(); b != p.beat {
			p.beat = b
			p.still = 0
			continue
		}
		if p.still++; p.still >= starvation || p.still >= silence && sys.Stopped(p.pid) {
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

// Forget tells a peer that it counts as dead. A peer that was only stopped reads it when it
// goes on.
func (t *Transport) Forget(rank int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.peers[rank]; p != nil {
		t.tell(p, record{kind: dead, fd: -1})
	}
}
