package stress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"weft"
	"weft/mpi"
)

// endsKind is a kind of scene that is a job of its own: the table of ends. Each rank has begun much of what can be
// under way (endsCalls) when some ranks end, each in its own way. The others must learn of that, and end.
const endsKind = "ends"

// The ways in which a rank ends, besides those of strikes.
const (
	stay   = "stay"   // it ends last: its contexts end when all must have been noticed
	fail   = "fail"   // its function returns an error
	crowd  = "crowd"  // its function returns, and its goroutines go on with calls
	twice  = "twice"  // it closes its Proc, in two goroutines at once
	broken = "panic"  // a goroutine panics
	signal = "signal" // all ranks end on a signal to the launcher, or are killed by it
)

// noticeable says whether other ranks learn of an end as of a death.
var noticeable = map[string]bool{fail: true, broken: true, kill: true, crash: true}

// An endsPlan is how each rank ends.
type endsPlan struct {
	seed  uint64
	ways  []string
	after time.Duration // what is under way has begun, and the first rank ends
	look  time.Duration // in which the others must notice it
	stuck bool          // ranks have sent what nobody accepts: groups are not told before that a rank has returned

	libraries bool // windows, connections and what else packages above weft's have is under way as well
}

// drawEnds draws a plan. Simulated ranks crash where processes end in several ways.
func drawEnds(seed uint64, n int, simulated bool) endsPlan {
	rng := chance(seed, "ends")
	p := endsPlan{seed: seed, after: 200 * time.Millisecond, look: 20 * time.Second}
	ways := []string{goHome, crowd, fail, leave, twice, broken, kill, crash}
	if simulated {
		p.after = time.Duration(rng.Int64N(int64(20 * time.Millisecond)))
		p.look = 3 * time.Second // more than the liveness time
		ways = []string{goHome, crowd, fail, leave, twice, kill}
	}
	for range n {
		p.ways = append(p.ways, stay)
	}
	for _, rank := range rng.Perm(n)[:1+rng.IntN(max(n/2, 1))] {
		p.ways[rank] = ways[rng.IntN(len(ways))]
	}
	p.stuck = rng.IntN(2) == 0
	if !simulated && rng.IntN(4) == 0 {
		p.ways = slices.Repeat([]string{signal}, n)
	}
	p.libraries = rng.IntN(2) == 0
	return p
}

func (p endsPlan) String() string {
	var parts []string
	for rank, way := range p.ways {
		parts = append(parts, fmt.Sprintf("%d: %s", rank, way))
	}
	return fmt.Sprintf("seed %d: after %v, stuck: %v, libraries: %v, %s", p.seed, p.after, p.stuck, p.libraries,
		strings.Join(parts, ", "))
}

// An endsRank is a rank of such a job.
type endsRank struct {
	endsPlan
	p    *weft.Proc
	rng  *rand.Rand
	ctx  context.Context
	stop context.CancelFunc

	mu    sync.Mutex
	open  map[string][]int // calls that have not ended: the ranks of which one must end for it to end
	found []string
}

// run is the function of a rank.
func (p endsPlan) run(ctx context.Context, proc *weft.Proc) error {
	r := &endsRank{endsPlan: p, p: proc, rng: chance(p.seed, "ends", proc.Rank()), open: map[string][]int{}}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx)) // a rank that fails does not end it
	defer r.stop()
	way := p.ways[proc.Rank()]
	if way == signal { // some heed it
		r.begin()
		fmt.Println(allBegun)
		if r.rng.IntN(2) == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		select {}
	}
	r.begin()
	if err := proc.Sleep(r.ctx, p.after); err != nil && !errors.Is(err, weft.ErrClosed) {
		return err
	}
	if way != stay {
		return r.end(way)
	}
	r.await(r.due)
	for _, call := range r.due() {
		r.found = append(r.found, call+" does not end with the ranks that it needs")
	}
	r.stop()
	r.await(r.left)
	for _, call := range r.left() {
		r.found = append(r.found, call+" does not end with its context")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.found) > 0 {
		slices.Sort(r.found)
		return fmt.Errorf("rank %d has found: %s", proc.Rank(), strings.Join(r.found, "; "))
	}
	return nil
}

// ends reports whether a call ends because a rank has ended as the plan says. A call that any rank could satisfy ends
// only with a death.
func (r *endsRank) ends(call string, rank int) bool {
	way := r.ways[rank]
	if r.stuck && (way == goHome || way == crowd) && strings.HasPrefix(call, group) {
		return false
	}
	return way != stay && (noticeable[way] || !strings.HasPrefix(call, "any: "))
}

// due returns the calls that must have ended, and have not.
func (r *endsRank) due() (calls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for call, needs := range r.open {
		if slices.ContainsFunc(needs, func(rank int) bool { return r.ends(call, rank) }) {
			calls = append(calls, call)
		}
	}
	return calls
}

// left returns the calls that have not ended.
func (r *endsRank) left() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.open))
}

// await waits until no such calls are left, or the time is over.
func (r *endsRank) await(calls func() []string) {
	for end := r.p.Now() + r.look; r.p.Now() < end && len(calls()) > 0; {
		_ = r.p.Sleep(context.Background(), time.Millisecond)
	}
}

// allBegun is what a rank prints when it waits for a signal.
const allBegun = "all has begun"

// errPlanned is why a rank fails.
var errPlanned = errors.New("as planned")

// end ends the rank in its way.
func (r *endsRank) end(way string) error {
	switch way {
	case fail:
		return errPlanned
	case broken:
		go func() { panic("as planned") }()
		select {}
	case crash:
		os.Exit(7)
	case kill:
		if r.p.Simulated() { // the cluster's faults do it
			_ = r.p.Sleep(context.Background(), time.Hour)
			return nil
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case goHome: // its goroutines have ended
		r.stop()
		r.await(r.left)
	case twice:
		r.p.Go(func() { _ = r.p.Close() })
		_ = r.p.Close()
	case leave:
		_ = r.p.Close()
	}
	return nil
}

// call begins a call, again and again if it succeeds, in a goroutine of its own. It must have ended when one of the
// ranks in needs has.
func (r *endsRank) call(name string, needs []int, f func(ctx context.Context) error) {
	r.mu.Lock()
	r.open[name] = needs
	r.mu.Unlock()
	r.p.Go(func() {
		var err error
		for err == nil {
			if err = f(r.ctx); errors.Is(err, weft.ErrWouldBlock) {
				err = r.p.Sleep(r.ctx, r.look/100)
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, name)
		for _, fine := range []error{
			errEnough, context.Canceled, weft.ErrClosed, weft.ErrPeer, weft.ErrBroken, weft.ErrRevoked, weft.ErrNoRegion,
			weft.ErrNotHeld, mpi.ErrExcluded, net.ErrClosed, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
		} {
			if errors.Is(err, fine) {
				return
			}
		}
		r.found = append(r.found, fmt.Sprintf("%s: %v", name, err))
	})
}

// errEnough ends a call that has done what it should.
var errEnough = errors.New("it is done")
