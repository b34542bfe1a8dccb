package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"weft"
	"weft/mpi"
)

// An actor is a goroutine that uses weft.
type actor struct {
	*rank
	name string
	rng  *rand.Rand
	now  atomic.Pointer[op]
	quit bool // this rank is leaving, or its scene is over
}

// An op is a call that an actor makes.
type op struct {
	what  string
	since time.Duration
}

// actor returns an actor, which is a goroutine's part in a scene. What it does at random follows from the seed, its
// name and the rank. The goroutine ends it by end.
func (r *rank) actor(name string) *actor {
	a := &actor{rank: r, name: name, rng: chance(r.seed, name, r.p.Rank())}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors[a] = true
	return a
}

func (a *actor) end() {
	a.mu.Lock()
	delete(a.actors, a)
	a.mu.Unlock()
	a.changed()
}

// do makes a call, which the director is told of if it does not return.
func (a *actor) do(what string, f func() error) error {
	a.now.Store(&op{what, a.p.Now()})
	err := f()
	a.now.Store(nil)
	return err
}

// A verdict says what the error of a call means for the actor.
type verdict int

const (
	fine   verdict = iota
	later          // ErrWouldBlock, or its context has ended: try again
	gone           // a rank that it needs is gone
	over           // this rank leaves: end
	failed         // anything else, which has been told
)

// call makes a call whose context does not end, unless the scene does.
func (a *actor) call(what string, f func() error) verdict {
	return a.judge(what, a.do(what, f), false)
}

// judge says what an error means, and reports those that may not be. Ends says that the
// context of the call may have ended.
func (a *actor) judge(what string, err error, ends bool) verdict {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case err == nil:
		a.progress.Add(1)
		return fine
	case errors.Is(err, weft.ErrWouldBlock):
		return later
	case a.leaving.Load() && (errors.Is(err, weft.ErrClosed) || errors.Is(err, weft.ErrPeer)), a.ctx.Err() != nil && ended,
		a.ctx.Err() != nil && errors.Is(err, weft.ErrRevoked):
		a.quit = true
		return over
	case ended && ends:
		return later
	}
	n := note{Kind: noteError, Text: fmt.Sprintf("%s: %s: %v", kindOf(a.name), what, err)}
	var peer *weft.PeerError
	isPeer := errors.As(err, &peer)
	switch {
	case isPeer:
		n.Ranks = []int{peer.Rank}
		n.Text = fmt.Sprintf("rank %d is gone: %v", peer.Rank, peer.Cause)
	case errors.Is(err, weft.ErrClosed), errors.Is(err, weft.ErrBroken), errors.Is(err, weft.ErrNoRegion),
		errors.Is(err, weft.ErrPeer),
		errors.Is(err, weft.ErrFenced), errors.Is(err, weft.ErrNotHeld), errors.Is(err, weft.ErrRevoked),
		errors.Is(err, mpi.ErrExcluded):
	default:
		a.found("%s: %s: %v (%T)", a.name, what, err, err)
		return failed
	}
	a.once(n)
	return gone
}

// kindOf returns the kind of scene that an actor's name begins with.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

// meet waits until all members of the scene that are not struck have come to a place. It
// does so without weft.
func (a *actor) meet(s *scene, place string) {
	what := s.name + " " + place
	a.tell(note{Kind: noteMeet, Rank: a.p.Rank(), Text: what, Ranks: s.members})
	err := a.do("meet at "+place, func() error {
		return a.await(a.ctx, func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.met[what]
		})
	})
	a.quit = a.quit || err != nil
	a.progress.Add(1)
}
