package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weft"
	"weft/coll"
)

// The environment of a rank.
const (
	envSeed  = "WEFT_STRESS_SEED"
	envLine  = "WEFT_STRESS_LINE"  // the director's socket
	envOnly  = "WEFT_STRESS_ONLY"  // kinds of scenes, with commas; empty means all
	envSpoil = "WEFT_STRESS_SPOIL" // what a rank does wrong, to test the checks
)

// A rank is one process of a stressed job.
type rank struct {
	p     *weft.Proc
	seed  uint64
	only  []string
	spoil string
	line  *line
	began time.Time

	progress atomic.Uint64 // what the goroutines have got done
	leaving  atomic.Bool   // Close has been called, or is about to be
	over     atomic.Bool   // run returns, or has
	ending   atomic.Bool   // all ranks may leave from now on
	ctx      context.Context
	cancel   context.CancelFunc // of all scenes

	rounds chan note
	leaves chan string

	mu     sync.Mutex
	meets  map[string]chan struct{}
	actors map[*actor]bool
	books  map[fmt.Stringer]*scene // what is still missing, to be told when the job is stuck
	left   []int                   // ranks that have left in good order
	news   chan struct{}           // closed when left grows
	told   map[string]bool
	group  sync.WaitGroup // of all actors

	obituaries *obituaries // of the ranks that are gone
}

// Rank is called first in main: if the process is a rank of a stressed job it is one,
// and true is returned.
func Rank() bool {
	path := os.Getenv(envLine)
	if path == "" {
		return false
	}
	r := &rank{
		began: time.Now(), spoil: os.Getenv(envSpoil), meets: map[string]chan struct{}{}, actors: map[*actor]bool{},
		books: map[fmt.Stringer]*scene{},
		news:  make(chan struct{}), told: map[string]bool{}, rounds: make(chan note, 1), leaves: make(chan string, 1),
		obituaries: newObituaries(),
	}
	r.seed, _ = strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	if text := os.Getenv(envOnly); text != "" {
		r.only = strings.Split(text, ",")
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
	r.line = newLine(conn)
	if chance(r.seed, "main").IntN(2) == 0 {
		weft.Main(func(ctx context.Context, p *weft.Proc) error {
			r.run(p)
			r.line.tell(note{Kind: noteBye, Rank: p.Rank()})
			return nil
		})
		return true
	}
	p, err := weft.Join(context.Background(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
	r.run(p)
	r.leave()
	r.group.Wait()
	r.line.tell(note{Kind: noteBye, Rank: p.Rank()})
	return true
}

// run plays rounds until the job ends, or this rank is to leave.
func (r *rank) run(p *weft.Proc) {
	r.p = p
	defer r.over.Store(true)
	r.line.tell(note{Kind: noteHello, Rank: p.Rank(), N: uint64(os.Getpid())})
	go func() {
		_ = r.line.listen(r.hear)
		os.Exit(9) // nobody directs us any more
	}()
	go r.beat()
	go r.mourn()
	for {
		select {
		case n := <-r.rounds:
			if n.Kind == noteEnd {
				r.hammer()
				return
			}
			done := make(chan struct{})
			go func() {
				r.round(int(n.N), n.Ranks, n.Text == newChannels)
				close(done)
			}()
			select {
			case <-done:
				r.line.tell(note{Kind: noteDone, Rank: p.Rank(), N: n.N})
			case how := <-r.leaves:
				r.goAway(how)
				<-done
				return
			}
		case how := <-r.leaves:
			r.goAway(how)
			return
		}
	}
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
}

// hear is called with each note of the director.
func (r *rank) hear(n note) {
	switch n.Kind {
	case noteEnd:
		r.ending.Store(true)
		r.rounds <- n
	case noteRound:
		r.rounds <- n
	case noteLeave:
		r.leaves <- n.Text
	case noteMet:
		close(r.meeting(n.Text))
	case noteLeft:
		r.mu.Lock()
		r.left = append(r.left, n.Rank)
		close(r.news)
		r.news = make(chan struct{})
		r.mu.Unlock()
	case notePoke:
		go func() {
			if port, err := r.p.OpenPort(59_999, nil); err == nil {
				_, _ = port.TryRecv()
			}
		}()
	case noteDump:
		r.line.tell(note{Kind: noteState, Rank: r.p.Rank(), Text: r.state()})
	}
}

// meeting returns the channel that is closed when all ranks have come to a place, and makes it if there is none.
func (r *rank) meeting(what string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.meets[what]
	if c == nil {
		c = make(chan struct{})
		r.meets[what] = c
	}
	return c
}

// beat tells the director how much has been done, ten times a second.
func (r *rank) beat() {
	for range time.Tick(100 * time.Millisecond) {
		r.line.tell(note{Kind: noteBeat, Rank: r.p.Rank(), N: r.progress.Load()})
	}
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
		r.line.tell(n)
	}
}

// state describes what the goroutines do.
func (r *rank) state() string {
	var b strings.Builder
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range r.actors {
		if op := a.now.Load(); op != nil {
			fmt.Fprintf(&b, "rank %d %s: %s for %v\n", r.p.Rank(), a.name, op.what, time.Since(op.since).Round(time.Millisecond))
		} else {
			fmt.Fprintf(&b, "rank %d %s: between calls\n", r.p.Rank(), a.name)
		}
	}
	lines := strings.SplitAfter(b.String(), "\n")
	slices.Sort(lines)
	for book, s := range r.books {
		if text := book.String(); text != "" {
			lines = append(lines, fmt.Sprintf("rank %d %s:\n%s", r.p.Rank(), s.name, text))
		}
	}
	return strings.Join(lines, "")
}

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
	since time.Time
}

// actor returns an actor, which is a goroutine's part in a scene. What it does at random follows from the seed, its
// name and the rank. The goroutine ends it by end.
func (r *rank) actor(name string) *actor {
	a := &actor{rank: r, name: name, rng: chance(r.seed, name, r.p.Rank())}
	r.group.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors[a] = true
	return a
}

func (a *actor) end() {
	a.mu.Lock()
	delete(a.actors, a)
	a.mu.Unlock()
	a.group.Done()
}

// do makes a call, which the director is told of if it does not return.
func (a *actor) do(what string, f func() error) error {
	a.now.Store(&op{what, time.Now()})
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
		errors.Is(err, coll.ErrExcluded):
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

// brief returns a context that ends soon, or has ended.
func (a *actor) brief(parent context.Context) (context.Context, context.CancelFunc) {
	switch a.rng.IntN(4) {
	case 0:
		ctx, cancel := context.WithCancel(parent)
		cancel()
		return ctx, cancel
	case 1:
		ctx, cancel := context.WithCancel(parent)
		go func() {
			runtime.Gosched()
			cancel()
		}()
		return ctx, cancel
	default:
		return context.WithTimeout(parent, time.Duration(a.rng.IntN(2000))*time.Microsecond)
	}
}

// pause lets other goroutines go on.
func (a *actor) pause() {
	if a.rng.IntN(4) > 0 {
		runtime.Gosched()
		return
	}
	_ = a.p.Sleep(a.ctx, time.Duration(a.rng.IntN(300))*time.Microsecond)
}

// meet waits until all members of the scene that are not struck have come to a place. It
// does so without weft.
func (a *actor) meet(s *scene, place string) {
	what := s.name + " " + place
	c := a.meeting(what)
	a.line.tell(note{Kind: noteMeet, Rank: a.p.Rank(), Text: what, Ranks: s.members})
	a.do("meet at "+place, func() error {
		select {
		case <-c:
		case <-a.ctx.Done():
			a.quit = true
		}
		return nil
	})
	a.progress.Add(1)
}
