package am_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weft"
	"weft/am"
	"weft/internal/explore"
)

// A world is what the ranks of a simulated job know together: which requests there were,
// and what became of them.
type world struct {
	ranks   int
	handled [][]uint64 // by sender and receiver: the number of the next request
	dead    int        // the rank that crashes, or -1
}

// How a request is answered.
const (
	byNothing = iota
	byWords
	byMedium
	byXfer
	byError
	byPanic
	byStore // and nothing
	byGet
	ways
)

// A player is a rank that does at random what am can do, and checks what comes of it.
type player struct {
	*world
	e       *am.Endpoint
	rnd     *rand.Rand
	sent    []uint64
	gets    uint64
	pending []map[uint64]int // by rank: the way of each request that has had no outcome
	fins    map[int]bool
	gone    map[int]bool
	wrong   error
}

// bytes returns what goes with a request.
func bytes(from, to int, seq uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from*31 + to*17 + int(seq)*7 + i)
	}
	return b
}

const (
	slot    = am.MaxXfer
	depth   = 3
	largest = 5000
)

func (w *player) fail(format string, args ...any) error {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
	return w.wrong
}

// outcome notes that a request has been answered or returned.
func (w *player) outcome(to int, seq uint64, way ...int) error {
	have, ok := w.pending[to][seq]
	delete(w.pending[to], seq)
	for _, x := range way {
		if ok && x == have {
			return nil
		}
	}
	return w.fail("request %d to rank %d, of way %d (there: %v), ends as %v", seq, to, have, ok, way)
}

func (w *player) table() []am.Handler {
	return []am.Handler{{Name: "ask", Func: w.onAsk}, {Name: "answer", Func: w.onAnswer}, {Name: "fin", Func: w.onFin}}
}

func (w *player) onFin(c *am.Call) error {
	w.fins[c.From] = true
	return nil
}

// onAsk handles a request: its number, its way, and the length that its answer is to have.
func (w *player) onAsk(c *am.Call) error {
	me := w.e.Rank()
	seq := c.Words[0]
	way := int(c.Words[1])
	n := int(c.Words[2])
	if next := &w.handled[c.From][me]; *next != seq {
		return w.fail("rank %d handles request %d of rank %d, not %d", me, seq, c.From, *next)
	}
	w.handled[c.From][me]++
	if way == byStore && string(c.Data) != string(bytes(c.From, me, seq, n)) {
		return w.fail("rank %d: the data of store %d of rank %d is another", me, seq, c.From)
	}
	switch way {
	case byWords:
		return c.Reply(1, seq, uint64(way), uint64(n))
	case byMedium:
		return c.ReplyMedium(1, bytes(me, c.From, seq, n), seq, uint64(way), uint64(n))
	case byXfer:
		return c.ReplyXfer(w.place(w.ranks+me, seq), bytes(me, c.From, seq, n), 1, seq, uint64(way), uint64(n))
	case byError:
		return errors.New("as it was asked to")
	case byPanic:
		panic("as it was asked to")
	}
	return nil
}

// place returns where in this rank's segment what comes from another one goes.
func (w *player) place(from int, seq uint64) int { return (from*(depth+1) + int(seq)%(depth+1)) * slot }

func (w *player) onAnswer(c *am.Call) error {
	me := w.e.Rank()
	seq := c.Words[0]
	way := int(c.Words[1])
	n := int(c.Words[2])
	if (way == byMedium || way == byXfer) && string(c.Data) != string(bytes(c.From, me, seq, n)) {
		return w.fail("rank %d: the data of the answer to request %d to rank %d is another", me, seq, c.From)
	}
	if way == byGet && len(c.Data) != n {
		return w.fail("rank %d: a get of %d bytes has brought %d", me, n, len(c.Data))
	}
	return w.outcome(c.From, seq, way)
}

// ask makes a random request to a rank.
func (w *player) ask(ctx context.Context, to int) error {
	me := w.e.Rank()
	seq := w.sent[to]
	way := w.rnd.IntN(ways)
	n := w.rnd.IntN(am.MaxMedium + 1)
	var err error
	w.pending[to][seq] = way // before: a request to oneself is answered at once
	switch way {
	case byStore:
		n = w.rnd.IntN(largest)
		data := bytes(me, to, seq, n)
		off := w.place(me, seq)
		if w.rnd.IntN(2) == 0 {
			err = w.e.Store(ctx, to, off, data, 0, seq, byStore, uint64(n))
		} else {
			err = w.e.StoreAsync(ctx, to, off, data, 0, func() { clear(data) }, seq, byStore, uint64(n))
		}
	case byGet: // numbered apart: no handler there counts it
		n = w.rnd.IntN(largest)
		delete(w.pending[to], seq)
		w.gets++
		seq = 1<<32 | w.gets
		w.pending[to][seq] = way
		err = w.e.Get(ctx, to, 0, (2*w.ranks+to)*(depth+1)*slot, n, 1, seq, byGet, uint64(n))
	default:
		err = w.e.Request(ctx, to, 0, seq, uint64(way), uint64(n))
	}
	if err != nil {
		delete(w.pending[to], seq)
		return err
	}
	if way != byGet {
		w.sent[to]++
	}
	return nil
}

// excuse returns nil for errors that must be: of a rank that has crashed, and of handlers that were asked to fail.
func (w *player) excuse(err error) error {
	var back *am.ReturnedError
	var handler *am.HandlerError
	var gone *weft.PeerError
	var region *weft.RegionError
	switch {
	case w.wrong != nil:
		return w.wrong
	case errors.As(err, &back):
		if errors.As(err, &gone) {
			w.gone[gone.Rank] = true
			if len(back.Words) > 0 { // else it is a fin
				delete(w.pending[back.To], back.Words[0])
			}
			if gone.Rank != w.dead || back.To != w.dead {
				return w.fail("rank %d takes rank %d for dead: %w", w.e.Rank(), gone.Rank, err)
			}
			return nil
		}
		return w.outcome(back.To, back.Words[0], byError, byPanic)
	case errors.As(err, &handler):
		return nil
	case errors.As(err, &gone) && gone.Rank == w.dead:
		w.gone[gone.Rank] = true
		return nil
	case errors.As(err, &region) && region.Rank == w.dead && errors.Is(err, weft.ErrClosed):
		return nil // its function, which still runs, has closed it
	}
	return err
}

// settled calls an operation again until it has no error but those that must be.
func (w *player) settled(f func() error) error {
	for {
		err := f()
		if err == nil {
			return w.wrong
		}
		if err := w.excuse(err); err != nil {
			return err
		}
	}
}

func (w *player) play(ctx context.Context, p *weft.Proc, ops int) error {
	var err error
	w.e, err = am.Open(ctx, p, 3, w.table(), &am.Config{Depth: depth, Segment: 3 * w.ranks * (depth + 1) * slot})
	if err != nil {
		return err
	}
	defer w.e.Close()
	for range ops {
		to := w.rnd.IntN(w.ranks)
		err := w.ask(ctx, to)
		if err == nil && w.rnd.IntN(3) == 0 {
			err = w.e.Poll()
		}
		if err != nil {
			if err := w.excuse(err); err != nil {
				return err
			}
		}
		if w.rnd.IntN(8) == 0 {
			if err := p.Sleep(ctx, time.Duration(w.rnd.IntN(20))*time.Microsecond); err != nil {
				return err
			}
		}
	}
	flush := func() error { return w.e.Flush(ctx) }
	if err := w.settled(flush); err != nil {
		return err
	}
	for to := range w.ranks {
		for seq, way := range w.pending[to] {
			if way != byNothing && way != byStore && !(to == w.e.Rank() && (way == byError || way == byPanic)) {
				return w.fail("rank %d: request %d to rank %d, of way %d, has had no outcome", w.e.Rank(), seq, to, way)
			}
		}
		if err := w.e.Request(ctx, to, 2); err != nil {
			if err := w.excuse(err); err != nil {
				return err
			}
		}
	}
	if err := w.settled(func() error {
		return w.e.Until(ctx, func() bool {
			for to := range w.ranks {
				if !w.fins[to] && !w.gone[to] {
					return false
				}
			}
			return true
		})
	}); err != nil {
		return err
	}
	if err := w.settled(flush); err != nil {
		return err
	}
	if s := w.e.Stats(); s.Late+s.Strange > 0 {
		return w.fail("rank %d: %+v", w.e.Rank(), s)
	}
	return nil
}

// runSeed plays one job, and returns what went wrong.
func runSeed(seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 1))
	c := weft.Cluster{Ranks: 2 + rnd.IntN(4), Seed: seed, Liveness: 20 * time.Millisecond}
	c.PerHost = 1 + rnd.IntN(2)
	if rnd.IntN(2) == 0 {
		c.Loss = rnd.Float64() * 0.05
	}
	dead := -1
	struck := rnd.IntN(c.Ranks)
	at := weft.Operations{Rank: struck, Count: 40 + rnd.IntN(100)}
	switch rnd.IntN(4) {
	case 0:
		dead = struck
		c.Faults = []weft.Fault{{Kind: weft.Crash, Ranks: []int{struck}, After: at}}
	case 1:
		c.Faults = []weft.Fault{{Kind: weft.Pause, Ranks: []int{struck}, After: at, For: 3 * time.Millisecond}}
	case 2:
		c.Faults = []weft.Fault{{Kind: weft.Slow, Ranks: []int{struck}, After: at, For: 5 * time.Millisecond,
			Delay: 300 * time.Microsecond}}
	}
	w := &world{ranks: c.Ranks, dead: dead}
	for range c.Ranks {
		w.handled = append(w.handled, make([]uint64, c.Ranks))
	}
	ops := 20 + rnd.IntN(60)
	_, err := weft.Simulate(context.Background(), c, func(ctx context.Context, p *weft.Proc) error {
		q := &player{world: w, rnd: rand.New(rand.NewPCG(seed, uint64(p.Rank())+2)), sent: make([]uint64, c.Ranks),
			fins: map[int]bool{}, gone: map[int]bool{}}
		for range c.Ranks {
			q.pending = append(q.pending, map[uint64]int{})
		}
		err := q.play(ctx, p, ops)
		if p.Rank() == dead && errors.Is(err, weft.ErrClosed) {
			return nil
		}
		return err
	})
	return err
}

// TestSeeds plays jobs at random, with losses, pauses, slow ranks and crashes: no request is lost
// or handled twice, all are
// handled in order, each has one outcome, nothing deadlocks, and a reply always has room.
func TestSeeds(t *testing.T) {
	if raceEnabled {
		t.Skip("the goroutines of the simulator take turns")
	}
	for seed := range explore.Choose[uint64](40, 150) {
		if err := runSeed(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
