package stress

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weft"
)

// A rank is a rank of a stressed job: a process, or a rank in the simulator.
type rank struct {
	p     *weft.Proc
	seed  uint64
	only  []string
	spoil string
	tell  func(n note) // to the director
	stage *simulation  // nil if it is a process

	progress atomic.Uint64 // what the goroutines have got done
	leaving  atomic.Bool   // Close has been called, or is about to be
	over     atomic.Bool   // run returns, or has
	ending   atomic.Bool   // all ranks may leave from now on
	ctx      context.Context
	cancel   context.CancelFunc // of all scenes

	mu     sync.Mutex
	news   chan struct{} // closed and made anew by changed
	rounds []note        // orders that have not been carried out
	leaves []string
	met    map[string]bool // places at which all have arrived
	actors map[*actor]bool
	books  map[fmt.Stringer]*scene // what is still missing, to be told when the job is stuck
	left   []int                   // ranks that have left in good order
	told   map[string]bool

	obituaries obituaries // of the ranks that are gone
}

// newRank returns a rank whose scenes end with ctx.
func newRank(ctx context.Context, seed uint64, only, spoil string, tell func(n note)) *rank {
	r := &rank{
		seed: seed, spoil: spoil, tell: tell, news: make(chan struct{}), met: map[string]bool{}, actors: map[*actor]bool{},
		books: map[fmt.Stringer]*scene{}, told: map[string]bool{},
	}
	if only != "" {
		r.only = strings.Split(only, ",")
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// run plays rounds until the job ends, or this rank is to leave.
func (r *rank) run() {
	defer r.over.Store(true)
	r.tell(note{Kind: noteHello, Rank: r.p.Rank(), N: uint64(os.Getpid())})
	r.p.Go(r.mourn)
	for {
		n, how := r.order(nil)
		switch {
		case how != "":
			r.goAway(how)
			return
		case n == nil: // the context has ended
			return
		case n.Kind == noteEnd:
			r.hammer()
			return
		}
		done := &flag{r: r}
		r.p.Go(func() {
			r.round(int(n.N), n.Ranks, n.Text == newChannels)
			done.raise()
		})
		if _, how := r.order(done); how != "" {
			r.goAway(how)
			_ = r.await(context.Background(), done.raised)
			return
		}
		r.tell(note{Kind: noteDone, Rank: r.p.Rank(), N: n.N})
	}
}

// order waits for what this rank is to do next: to leave in a way, or a round. During a round, whose end is done, it
// waits for the end in place of the next round.
func (r *rank) order(done *flag) (n *note, how string) {
	_ = r.await(r.endless(done), func() bool {
		if done != nil && done.raised() {
			return true
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.leaves) > 0 || done == nil && len(r.rounds) > 0
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.leaves) > 0:
		return nil, r.leaves[0]
	case done == nil && len(r.rounds) > 0:
		n = &r.rounds[0]
		r.rounds = r.rounds[1:]
	}
	return n, ""
}

// endless returns the context with which a rank waits for orders: a round ends by itself.
func (r *rank) endless(done *flag) context.Context {
	if done != nil {
		return context.Background()
	}
	return r.ctx
}

// goAway leaves the job in one of several ways.
func (r *rank) goAway(how string) {
	switch how {
	case crash:
		os.Exit(3)
	case exit:
		os.Exit(0)
	case leave:
		r.leave()
	case goHomeLast: // the round's calls have all to end by themselves
	case goHome:
		r.cancel() // the goroutines end, and then the main function returns
	}
}

// leave closes the Proc, whatever its goroutines are doing.
func (r *rank) leave() {
	if r.leaving.Swap(true) {
		return
	}
	a := r.actor("leaving")
	defer a.end()
	a.do("Proc.Close", func() error { return r.p.Close() })
	r.cancel()
	r.changed()
}

// hear is called with each note of the director.
func (r *rank) hear(n note) {
	r.mu.Lock()
	switch n.Kind {
	case noteEnd:
		r.ending.Store(true)
		r.rounds = append(r.rounds, n)
	case noteRound:
		r.rounds = append(r.rounds, n)
	case noteLeave:
		r.leaves = append(r.leaves, n.Text)
	case noteMet:
		r.met[n.Text] = true
	case noteLeft:
		r.left = append(r.left, n.Rank)
	}
	r.mu.Unlock()
	r.changed()
	switch n.Kind {
	case notePoke:
		go func() {
			if port, err := r.p.OpenPort(59_999, nil); err == nil {
				_, _ = port.TryRecv()
			}
		}()
	case noteDump:
		r.tell(note{Kind: noteState, Rank: r.p.Rank(), Text: r.state()})
	}
}

// allEnded waits until all actors have ended.
func (r *rank) allEnded() {
	_ = r.await(context.Background(), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.actors) == 0
	})
}

// found reports that weft has not kept a promise.
func (r *rank) found(format string, args ...any) {
	r.once(note{Kind: noteFound, Text: fmt.Sprintf(format, args...)})
}

// once tells a note unless the same has been told.
func (r *rank) once(n note) {
	n.Rank = r.p.Rank()
	r.mu.Lock()
	known := r.told[n.Kind+n.Text] || len(r.told) > 200
	r.told[n.Kind+n.Text] = true
	r.mu.Unlock()
	if !known {
		r.tell(n)
	}
}

// state describes what the goroutines do.
func (r *rank) state() string {
	var lines []string
	r.mu.Lock()
	for a := range r.actors {
		doing := "between calls"
		if op := a.now.Load(); op != nil {
			doing = fmt.Sprintf("%s for %v", op.what, r.p.Now()-op.since)
		}
		lines = append(lines, fmt.Sprintf("rank %d %s: %s\n", r.p.Rank(), a.name, doing))
	}
	books := maps.Clone(r.books)
	r.mu.Unlock()
	slices.Sort(lines)
	for book, s := range books {
		if text := book.String(); text != "" {
			lines = append(lines, fmt.Sprintf("rank %d %s:\n%s", r.p.Rank(), s.name, text))
		}
	}
	return strings.Join(lines, "")
}
