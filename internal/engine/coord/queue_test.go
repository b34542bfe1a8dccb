package coord

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/explore"
)

// A table is some nodes and the events on their way between them, which a test
// delivers in any order that keeps that of each pair.
type table struct {
	t     testing.TB
	rand  *rand.Rand
	nodes []*Layer
	lists []link.Active
	ways  [][][]wire.Event // by sender and receiver
	sent  map[wire.EventKind]int
	dead  map[int]bool
}

func newTable(t testing.TB, n int, seed uint64) *table {
	tb := &table{t: t, rand: rand.New(rand.NewPCG(seed, 1)), lists: make([]link.Active, n),
		sent: map[wire.EventKind]int{}, dead: map[int]bool{}}
	for rank := range n {
		queues := map[int]*link.Queue{}
		tb.nodes = append(tb.nodes, NewLayer(rank, n, Peers{
			Queue: func(to int) *link.Queue {
				if queues[to] == nil {
					queues[to] = link.NewQueue(to, &tb.lists[rank])
				}
				return queues[to]
			},
			Want: func(int) {}, Raise: func(uint64, uint64) {},
		}))
		tb.ways = append(tb.ways, make([][]wire.Event, n))
	}
	return tb
}

// collect takes what the nodes have to send.
func (tb *table) collect() {
	for from := range tb.nodes {
		for q := tb.lists[from].First(); q != nil; q = tb.lists[from].First() {
			for head, payload, _, ok := q.Next(1<<12, true); ok; head, payload, _, ok = q.Next(1<<12, true) {
				f, err := wire.ParseEvent(head)
				if err != nil {
					tb.t.Fatal(err)
				}
				if from != q.Rank {
					tb.sent[f.Kind]++
				}
				tb.ways[from][q.Rank] = append(tb.ways[from][q.Rank], f)
				q.Sent(len(payload))
			}
			tb.lists[from].Remove()
		}
	}
}

// deliver delivers one event, and reports whether there was one.
func (tb *table) deliver() bool {
	tb.collect()
	var some [][2]int
	for a, row := range tb.ways {
		for b, way := range row {
			if len(way) > 0 {
				some = append(some, [2]int{a, b})
			}
		}
	}
	if len(some) == 0 {
		return false
	}
	p := some[tb.rand.IntN(len(some))]
	f := tb.ways[p[0]][p[1]][0]
	tb.ways[p[0]][p[1]] = tb.ways[p[0]][p[1]][1:]
	if tb.dead[p[1]] {
		return true
	}
	if err := tb.nodes[p[1]].Recv(0, p[0], f.Append(nil)); err != nil {
		tb.t.Fatalf("%v from %d to %d: %v", f.Kind, p[0], p[1], err)
	}
	return true
}

func (tb *table) open(c Config) (all []*Object) {
	for _, n := range tb.nodes {
		o, err := n.Open(0, c)
		if err != nil {
			tb.t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// A lockRun is ranks that take a distributed queue lock a number of times each, while
// events arrive in any order that keeps that of each pair.
type lockRun struct {
	*table
	locks  []*Object
	left   []int // how often each rank will still ask for the lock
	ops    []*Op // the request that a rank waits for, or by which it holds the lock
	holder int   // -1: none
	grants int
	epoch  uint64 // of the last grant
	deaths deaths
	sweeps bool   // ranks forget what is idle
	wrong  string // what has gone wrong, or ""
}

func newLockRun(t testing.TB, n, requests int, seed uint64, fair bool) *lockRun {
	tb := newTable(t, n, seed)
	r := &lockRun{
		table: tb, locks: tb.open(Config{Class: QueueLock, Name: "L", Fair: fair}),
		left: make([]int, n), ops: make([]*Op, n), holder: -1,
	}
	for rank := range r.left {
		r.left[rank] = requests
	}
	return r
}

// ask begins a Lock or a TryLock of a rank.
func (r *lockRun) ask(rank int, kind Kind) {
	r.left[rank]--
	op := &Op{Kind: kind, Object: r.locks[rank]}
	r.ops[rank] = op
	if r.nodes[rank].Start(0, op); op.Done {
		r.ended(rank, op)
	}
}

// unlock releases the lock at its holder.
func (r *lockRun) unlock() {
	rank := r.holder
	r.holder = -1
	r.ops[rank] = nil
	r.nodes[rank].Start(0, &Op{Kind: Unlock, Object: r.locks[rank]})
}

// finish takes one finished request of each rank, and reports whether there was one.
func (r *lockRun) finish() (moved bool) {
	for rank, nd := range r.nodes {
		if op := nd.Finished(); op != nil && !r.dead[rank] && r.wrong == "" {
			r.ended(rank, op)
			moved = true
		}
	}
	return moved
}

// ended checks a request that has ended: the lock is held by one rank at a time, each grant has
// a higher epoch, and the first holder after one that died is told, and no other.
func (r *lockRun) ended(rank int, op *Op) {
	if op.Kind == TryLock && op.Err == nil && !op.OK {
		r.ops[rank] = nil
		return
	}
	switch {
	case op.Err != nil:
		r.wrong = fmt.Sprintf("rank %d: %v", rank, op.Err)
	case r.holder >= 0:
		r.wrong = fmt.Sprintf("granted to %d, held by %d", rank, r.holder)
	case op.Epoch <= r.epoch:
		r.wrong = fmt.Sprintf("epoch %d after %d", op.Epoch, r.epoch)
	case r.deaths.ofHolder && !op.Died:
		r.wrong = fmt.Sprintf("rank %d is not told that the holder died", rank)
	case op.Died && len(r.dead) == 0:
		r.wrong = fmt.Sprintf("rank %d is told that a holder died, and nobody has", rank)
	}
	r.holder = rank
	r.epoch = op.Epoch
	r.grants++
	r.deaths.ofHolder = false
}

// tokens returns how many ranks have the lock's token.
func (r *lockRun) tokens() (n int) {
	for _, nd := range r.nodes {
		for _, s := range nd.States() {
			if s.Owns {
				n++
			}
		}
	}
	return n
}

// messages returns how many events ranks have sent to each other.
func (r *lockRun) messages() (n int) {
	for _, k := range r.sent {
		n += k
	}
	return n
}

// TestQueueLock: in any order of events the lock is held by one rank at a time, and each
// request is granted; at the end one rank has the token, and does not use it.
func TestQueueLock(t *testing.T) {
	const (
		n        = 5
		requests = 6
		enough   = 10_000 // rounds
	)
	for _, fair := range []bool{false, true} {
		most := 0
		for seed := range explore.Choose[uint64](1000, 3000) {
			r := newLockRun(t, n, requests, seed, fair)
			rounds := 0
			for r.wrong == "" && rounds < enough && r.round() {
				rounds++
			}
			if rounds == enough {
				r.wrong = "a rank waits for good"
			}
			if r.wrong != "" {
				t.Fatalf("seed %d: %s", seed, r.wrong)
			}
			if tokens := r.tokens(); r.grants != n*requests || tokens != 1 {
				t.Fatalf("seed %d: %d grants, %d have the token", seed, r.grants, tokens)
			}
			most = max(most, r.messages())
		}
		if most > 3*n*requests {
			t.Errorf("fair %v: %d messages for %d grants", fair, most, n*requests)
		}
	}
}

// round lets each rank ask for the lock or release it, perhaps, and delivers an event or two. It
// reports whether there is more to do.
func (r *lockRun) round() bool {
	moved := r.rand.IntN(2) == 0 && r.deliver()
	for _, rank := range r.rand.Perm(len(r.nodes)) {
		switch {
		case r.ops[rank] == nil && r.left[rank] > 0 && r.rand.IntN(2) == 0:
			r.ask(rank, Lock)
			moved = true
		case r.holder == rank && r.rand.IntN(2) == 0:
			r.unlock()
			moved = true
		}
	}
	moved = r.deliver() || moved || r.holder >= 0
	r.finish()
	for _, left := range r.left {
		moved = moved || left > 0
	}
	return moved
}

// TestStorm: however many want the lock, the home is told of each request once,
// and of no release. With a central queue it is told of both.
func TestStorm(t *testing.T) {
	for _, c := range []struct {
		class Class
		home  float64 // events at the home for each grant
	}{{QueueLock, 1}, {CentralLock, 2}} {
		const (
			n     = 16
			times = 50
		)
		tb := newTable(t, n, 1)
		locks := tb.open(Config{Class: c.class, Name: "L"})
		home := tb.nodes[tb.nodes[0].homeOf(locks[0].ID)]
		holder := -1
		left := n * times
		ops := make([]*Op, n)
		for grants := 0; grants < n*times; {
			for rank := range n {
				if ops[rank] == nil && left > 0 && rank != holder {
					left--
					ops[rank] = &Op{Kind: Lock, Object: locks[rank]}
					if tb.nodes[rank].Start(0, ops[rank]); ops[rank].Done {
						holder = rank
						grants++
					}
				}
			}
			for tb.deliver() {
			}
			for rank, nd := range tb.nodes {
				if op := nd.Finished(); op != nil {
					holder = rank
					grants++
				}
			}
			if holder >= 0 {
				tb.nodes[holder].Start(0, &Op{Kind: Unlock, Object: locks[holder]})
				ops[holder] = nil
				holder = -1
			}
		}
		if got := float64(home.Stats.Homes) / (n * times); got > c.home+0.1 {
			t.Errorf("%s: %.2f events at the home for each grant, want %v", fmt.Sprint(c.class), got, c.home)
		}
	}
}
