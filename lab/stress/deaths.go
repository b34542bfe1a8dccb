package stress

import (
	"context"
	"slices"
	"sync"
)

// obituaries are what a rank has been told by Proc.Deaths.
type obituaries struct {
	mu    sync.Mutex
	gone  []int
	ended bool // Deaths has nothing more to tell
}

// mourn listens to Proc.Deaths until this rank leaves: each rank is named once, none to
// which nothing has happened, and never this one.
func (r *rank) mourn() {
	a := r.actor("deaths")
	defer a.end()
	g := &r.obituaries
	for why := range r.p.Deaths(r.ctx) {
		if why.Rank == r.p.Rank() || g.knows(why.Rank) {
			a.found("Proc.Deaths yields rank %d, after %v", why.Rank, g.gone)
		}
		a.judge("Proc.Deaths", why, false)
		g.mu.Lock()
		g.gone = append(g.gone, why.Rank)
		g.mu.Unlock()
		r.changed()
	}
	if r.ctx.Err() == nil && !r.leaving.Load() && !r.over.Load() {
		a.found("Proc.Deaths has ended, and neither its context nor the Proc")
	}
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	r.changed()
}

// hearOfAll waits until Proc.Deaths has named all ranks that are left no more: every rank
// hears of every death, also of ranks with which it has had nothing to do.
func (r *rank) hearOfAll(left []int) {
	a := r.actor("hearing of deaths")
	defer a.end()
	for gone := range r.p.Size() {
		if !slices.Contains(left, gone) {
			if a.p.Simulated() { // no launcher tells of deaths: a rank must have a link to notice one
				_, err := a.p.Connect(a.ctx, gone)
				a.judge("Connect", err, false)
			}
			a.do("wait until Proc.Deaths names a rank that is gone", func() error {
				return a.await(context.Background(), func() bool { return r.obituaries.over() || r.obituaries.knows(gone) })
			})
			a.progress.Add(1)
		}
	}
}

// knows reports whether this rank has been told that a rank is gone.
func (g *obituaries) knows(rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.gone, rank)
}

// over reports whether Proc.Deaths tells nothing more.
func (g *obituaries) over() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}
