package stress

import (
	"slices"
	"sync"
)

// obituaries are what a rank has been told by Proc.Deaths.
type obituaries struct {
	mu    sync.Mutex
	gone  []int
	news  chan struct{} // closed when gone grows
	ended chan struct{} // closed when Deaths has nothing more to tell
}

func newObituaries() *obituaries {
	return &obituaries{news: make(chan struct{}), ended: make(chan struct{})}
}

// mourn listens to Proc.Deaths until this rank leaves: each rank is named once, none to
// which nothing has happened, and never this one.
func (r *rank) mourn() {
	a := r.actor("deaths")
	defer a.end()
	reg := r.obituaries
	defer close(reg.ended)
	for why := range r.p.Deaths(r.ctx) {
		if why.Rank == r.p.Rank() || slices.Contains(reg.gone, why.Rank) {
			a.found("Proc.Deaths yields rank %d, after %v", why.Rank, reg.gone)
		}
		a.judge("Proc.Deaths", why, false)
		reg.mu.Lock()
		reg.gone = append(reg.gone, why.Rank)
		close(reg.news)
		reg.news = make(chan struct{})
		reg.mu.Unlock()
	}
	if r.ctx.Err() == nil && !r.leaving.Load() && !r.over.Load() {
		a.found("Proc.Deaths has ended, and neither its context nor the Proc")
	}
}

// hearOfAll waits until Proc.Deaths has named all ranks that are left no more: every rank
// hears of every death, also of ranks with which it has had nothing to do.
func (r *rank) hearOfAll(left []int) {
	a := r.actor("hearing of deaths")
	defer a.end()
	for gone := range r.p.Size() {
		if slices.Contains(left, gone) {
			continue
		}
		for !r.obituaries.knows(gone) {
			r.obituaries.mu.Lock()
			news := r.obituaries.news
			r.obituaries.mu.Unlock()
			if r.obituaries.knows(gone) {
				break
			}
			a.do("wait until Proc.Deaths names a rank that is gone", func() error {
				select {
				case <-news:
				case <-r.obituaries.ended:
				}
				return nil
			})
			select {
			case <-r.obituaries.ended:
				return
			default:
			}
		}
		a.progress.Add(1)
	}
}

// knows reports whether this rank has been told that a rank is gone.
func (g *obituaries) knows(rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.gone, rank)
}
