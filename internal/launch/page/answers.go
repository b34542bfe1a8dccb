package page

import (
	"slices"
	"sync"
	"time"

	"weft/internal/launch"
)

// Times of the page's questions to the ranks.
const (
	promptly = 300 * time.Millisecond // for which the page waits for answers if it has earlier ones
	usable   = 2 * launch.Patience    // for which answers are shown while the ranks are asked again
)

// answers are the last answers of the ranks of a job. The ranks are asked in the background, one question at a time: a
// rank that is stopped lets each question take as long as launch.Patience, and the page does not wait for that.
type answers struct {
	mu     sync.Mutex
	last   launch.Status
	at     time.Time     // when last came; zero: never
	asking chan struct{} // closed when the answers to the running question are there; nil: none runs
}

// latest asks, and returns the answers if they come promptly; otherwise those to the question before. It waits for the
// answers if there are none that are usable. Any goroutine may call it. The caller must not change the Ranks.
func (a *answers) latest(ask func() launch.Status) launch.Status {
	a.mu.Lock()
	if a.asking == nil {
		a.asking = make(chan struct{})
		go a.fetch(ask)
	}
	asking := a.asking
	limit := promptly
	if a.at.IsZero() || time.Since(a.at) > usable {
		limit = usable
	}
	a.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-asking:
	case <-timer.C:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// fetch asks once. What a rank that does not answer had sent, it said in its last answer.
func (a *answers) fetch(ask func() launch.Status) {
	s := ask()
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range s.Ranks {
		if r := &s.Ranks[i]; r.Silent && i < len(a.last.Ranks) {
			before := &a.last.Ranks[i]
			r.Sent = slices.Clone(before.Sent)
			r.Paths = slices.Clone(before.Paths)
		}
	}
	a.last = s
	a.at = time.Now()
	close(a.asking)
	a.asking = nil
}
